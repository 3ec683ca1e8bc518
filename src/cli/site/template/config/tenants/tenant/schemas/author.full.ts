import type { FullSchema } from 'millrace/schema';

interface Author {
  name: string;
}

/** Builds a view of each author, with a list of the articles: a new article appears in it automatically. */
export default {
  triggers(context) {
    context.triggers('cms', ['author']);
  },
  routes(entity, context) {
    context.url(entity.url);
  },
  async properties({ originId, properties }, context) {
    const articles = await context
      .lookup(`type eq 'article' and properties.authorId eq '${encodeURIComponent(originId)}'`)
      .orderBy({ propertyName: 'properties.title', direction: 'asc' })
      .toPromise();
    return {
      name: properties.name,
      articles: articles.map((article) => ({ title: article.properties.title, url: article.url })),
    };
  },
} satisfies FullSchema<Author>;
