import type { FullSchema } from 'millrace/schema';

interface Article {
  title: string;
  text?: string;
  authorId?: string;
}

/** Builds a page for each article. Change something and save the file: `dev` activates it. */
export default {
  triggers(context) {
    context.triggers('cms', ['article']);
  },
  routes(entity, context) {
    context.url(entity.url);
    context.handle(`article-${entity.originId}`);
  },
  properties({ properties }, context) {
    return {
      title: properties.title,
      words: (properties.text ?? '').split(/\s+/).length,
      text: properties.text,
      // The author's view is inserted at delivery, so a new name appears in every article.
      author: context.reference('author').byOriginId(properties.authorId),
    };
  },
} satisfies FullSchema<Article>;
