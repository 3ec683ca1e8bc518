import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClientPrincipal } from '../../../src/config/configuration.ts';
import { AnswerCache } from '../../../src/http/cache/answer-cache.ts';
import { renewPages } from '../../../src/http/cache/renewed-pages.ts';
import { FinishedAnswer } from '../../../src/http/delivery/finished-answer.ts';
import { subjectKey } from '../../../src/store/derived/subjects.ts';

/** The cache looks at a principal's identity alone. */
const principal = Object.freeze({ kind: 'client' }) as unknown as ClientPrincipal;
const heir = Object.freeze({ kind: 'client' }) as unknown as ClientPrincipal;

/** A cache whose pages all read a view named like their query, and what was computed anew. */
class Scene {
  readonly cache = new AnswerCache(1 << 20);
  readonly renewed: (readonly [ClientPrincipal, string])[] = [];

  constructor(compute: () => Promise<void> = async () => {}) {
    renewPages(this.cache, (client, query) => {
      this.renewed.push([client, query]);
      return compute();
    });
  }

  put(query: string): void {
    const computation = this.cache.begin();
    this.cache.store(computation, principal, query, new FinishedAnswer(Buffer.from('{}')), () => [
      subjectKey(query),
    ]);
    this.cache.end(computation);
  }

  change(...queries: readonly string[]): void {
    this.cache.invalidate(queries.map(subjectKey));
  }

  get queries(): string[] {
    return this.renewed.map(([, query]) => query);
  }
}

test('pages that are asked for are computed anew when they change, all of a turn behind the last change', async () => {
  const scene = new Scene();
  for (const query of ['url=/a', 'url=/b', 'url=/c']) scene.put(query);
  scene.cache.find(principal, 'url=/a');
  scene.cache.find(principal, 'url=/b');
  scene.change('url=/a');
  await Promise.resolve();
  scene.change('url=/b', 'url=/c');
  assert.deepEqual(scene.queries, []);
  await nextTurn();
  assert.deepEqual(scene.queries, ['url=/a', 'url=/b']);
});

test('a page that nobody asked for since it was computed waits for a reader', async () => {
  const scene = new Scene();
  scene.put('url=/a');
  scene.cache.find(principal, 'url=/a');
  scene.change('url=/a');
  await nextTurn();
  scene.put('url=/a');
  scene.change('url=/a');
  await nextTurn();
  assert.deepEqual(scene.queries, ['url=/a']);
});

test('answers of queries, and pages beyond so many in a turn, wait for a reader', async () => {
  const scene = new Scene();
  const urls = Array.from({ length: 100 }, (_, number) => `url=/${number}`);
  for (const query of ['index\n{}', ...urls]) {
    scene.put(query);
    scene.cache.find(principal, query);
  }
  scene.change('index\n{}', ...urls);
  await nextTurn();
  assert.deepEqual(scene.queries, urls.slice(0, 64));
  scene.put('url=/0');
  scene.cache.find(principal, 'url=/0');
  scene.change('url=/0');
  await nextTurn();
  assert.equal(scene.renewed.length, 65);
});

test('a page that cannot be computed now is no concern of the next one', async () => {
  const scene = new Scene(() => Promise.reject(new Error('no')));
  for (const query of ['url=/a', 'url=/b']) {
    scene.put(query);
    scene.cache.find(principal, query);
  }
  scene.change('url=/a', 'url=/b');
  await nextTurn();
  assert.deepEqual(scene.queries, ['url=/a', 'url=/b']);
});

test('pages that went to the client of another configuration are computed for that one', async () => {
  const scene = new Scene();
  scene.put('url=/a');
  scene.cache.find(principal, 'url=/a');
  scene.cache.bequeath(
    () => heir,
    () => true,
  );
  scene.change('url=/a');
  await nextTurn();
  assert.deepEqual(scene.renewed, [[heir, 'url=/a']]);
});
