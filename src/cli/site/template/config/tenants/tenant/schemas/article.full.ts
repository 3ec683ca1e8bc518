import type { FullSchema } from 'millrace/schema';

/** Makes a page of each article. Change something and save: `dev` makes it active at once. */
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
      words: String(properties.text ?? '').split(/\s+/).length,
      text: properties.text,
      // The author's view is put here at delivery: a new name shows at once, in every article.
      author: context.reference('author').byOriginId(properties.authorId),
    };
  },
} satisfies FullSchema;
