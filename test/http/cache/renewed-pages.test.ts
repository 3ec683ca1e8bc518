import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AnswerCache, type AnswerKey } from '../../../src/http/cache/answer-cache.ts';
import { renewPages } from '../../../src/http/cache/renewed-pages.ts';
import { change, page, principal, put } from './support/pages.ts';

/** A cache whose pages all read a subject named like their query, and what was computed anew. */
class Scene {
  readonly cache = new AnswerCache(1 << 20);
  readonly renewed: AnswerKey[] = [];

  constructor(compute: () => Promise<void> = async () => {}) {
    renewPages(this.cache, (key) => {
      this.renewed.push(key);
      return compute();
    });
  }

  put(...queries: readonly string[]): Promise<unknown> {
    return Promise.all(queries.map((query) => put(this.cache, page(query), '{}', [query])));
  }

  find(...queries: readonly string[]): void {
    for (const query of queries) assert.ok(this.cache.find(page(query)) !== null);
  }

  change(...queries: readonly string[]): void {
    change(this.cache, ...queries);
  }

  get queries(): string[] {
    return this.renewed.map(({ text }) => text);
  }
}

test('pages that are asked for are computed anew when they change, all of a turn behind the last change', async () => {
  const scene = new Scene();
  await scene.put('url=/a', 'url=/b', 'url=/c');
  scene.find('url=/a', 'url=/b');
  scene.change('url=/a');
  await Promise.resolve();
  scene.change('url=/b', 'url=/c');
  assert.deepEqual(scene.queries, []);
  await nextTurn();
  assert.deepEqual(scene.queries, ['url=/a', 'url=/b']);
});

test('a page that nobody asked for since it was computed waits for a reader', async () => {
  const scene = new Scene();
  await scene.put('url=/a');
  scene.find('url=/a');
  scene.change('url=/a');
  await nextTurn();
  await scene.put('url=/a');
  scene.change('url=/a');
  await nextTurn();
  assert.deepEqual(scene.queries, ['url=/a']);
});

test('answers of queries, and pages beyond so many in a turn, wait for a reader', async () => {
  const scene = new Scene();
  const query: AnswerKey = { kind: 'query', principal, text: 'index\n{}' };
  for (let time = 0; time < 2; time += 1) await put(scene.cache, query, '{}', ['items']);
  assert.ok(scene.cache.find(query) !== null);
  const urls = Array.from({ length: 100 }, (_, number) => `url=/${number}`);
  await scene.put(...urls);
  scene.find(...urls);
  scene.change('items', ...urls);
  await nextTurn();
  assert.deepEqual(scene.queries, urls.slice(0, 64));
  await scene.put('url=/0');
  scene.find('url=/0');
  scene.change('url=/0');
  await nextTurn();
  assert.equal(scene.renewed.length, 65);
});

test('a page that cannot be computed now is no concern of the next one', async () => {
  const scene = new Scene(() => Promise.reject(new Error('no')));
  await scene.put('url=/a', 'url=/b');
  scene.find('url=/a', 'url=/b');
  scene.change('url=/a', 'url=/b');
  await nextTurn();
  assert.deepEqual(scene.queries, ['url=/a', 'url=/b']);
});
