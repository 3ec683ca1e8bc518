/** Generated pages for the delivery benchmarks: articles whose response is about 1.5 kB with 3 resolved references. */
import type { JsonObject } from '../../../src/contract/json.ts';
import { random, wordsFrom } from './random.ts';
import type { Entity } from './sets.ts';
import { type BenchTenant, sourceGroup } from './tenant.ts';

export const articleCount = 1_000;
const authorCount = 100;
const categoryCount = 20;
const bodyWords = 110;

export const pagesTenant: BenchTenant = {
  alias: 'pages',
  schemas: {
    article: {
      triggers: { [sourceGroup]: ['article'] },
      route: { url: '{url}' },
      properties: {
        title: '{p.title}',
        url: '{url}',
        summary: '{p.summary}',
        body: '{p.body}',
        tags: { type: 'array', input: '{p.tags}' },
        publishedAt: '{p.publishedAt}',
        revision: { type: 'number', value: '{p.revision}' },
        author: reference('card', '{p.authorId}'),
        category: reference('card', '{p.categoryId}'),
        related: reference('teaser', '{p.relatedId}'),
      },
    },
    teaser: {
      triggers: { [sourceGroup]: ['article'] },
      properties: { title: '{p.title}', url: '{url}', summary: '{p.summary}' },
    },
    card: {
      triggers: { [sourceGroup]: ['author', 'category'] },
      properties: { name: '{p.name}', url: '{url}' },
    },
  },
};

function reference(alias: string, originId: string): JsonObject {
  return { type: 'reference', alias, originId };
}

export function articleUrl(number: number): string {
  return `/articles/${number}`;
}

/** All entities of the pages, referenced entities first. */
export function* pageEntities(): Generator<Entity> {
  for (let number = 0; number < authorCount; number += 1) yield named('author', number);
  for (let number = 0; number < categoryCount; number += 1) yield named('category', number);
  for (let number = 0; number < articleCount; number += 1) yield article(number, 0);
}

/** A revision of an article. All revisions have the same size and different text. */
export function article(number: number, revision: number): Entity {
  const next = random(number * 31 + revision * 17 + 7);
  return {
    originId: `article-${number}`,
    type: 'article',
    url: articleUrl(number),
    originParentId: null,
    redirects: [],
    properties: {
      title: wordsFrom(next, 6),
      summary: wordsFrom(next, 14),
      body: wordsFrom(next, bodyWords),
      tags: [wordsFrom(next, 1), wordsFrom(next, 1), wordsFrom(next, 1)],
      publishedAt: '2024-05-17T08:30:00',
      revision,
      authorId: `author-${number % authorCount}`,
      categoryId: `category-${number % categoryCount}`,
      relatedId: `article-${(number * 7 + 3) % articleCount}`,
    },
  };
}

function named(type: string, number: number): Entity {
  return {
    originId: `${type}-${number}`,
    type,
    url: `/${type}/${number}`,
    originParentId: null,
    redirects: [],
    properties: { name: wordsFrom(random(number + 1), 2) },
  };
}
