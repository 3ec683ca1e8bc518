import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AnswerCache, SeenOnceFilter } from '../../../src/http/cache/answer-cache.ts';
import { FinishedAnswer } from '../../../src/http/cache/finished-answer.ts';
import { runs } from '../../support/runs.ts';
import {
  answer,
  Computations,
  change,
  found,
  otherPrincipal,
  page,
  principal,
  put,
} from './support/pages.ts';

test('answer cache: an answer is found by its client and query until something that it read changes', async () => {
  const cache = new AnswerCache(1 << 20);
  await put(cache, page('url=/a'), 'a', ['claim a', 'view a']);
  await put(cache, page('url=/b'), 'b', ['claim b', 'view a']);
  await put(cache, page('url=/c'), 'c', ['claim c']);
  assert.equal(found(cache, page('url=/a')), 'a');
  assert.equal(found(cache, { ...page('url=/a'), principal: otherPrincipal }), null);
  assert.equal(found(cache, { ...page('url=/a'), kind: 'query' }), null);
  change(cache, 'view a', 'view z');
  assert.equal(found(cache, page('url=/a')), null);
  assert.equal(found(cache, page('url=/b')), null);
  assert.equal(found(cache, page('url=/c')), 'c');
  cache.invalidate(null);
  assert.equal(found(cache, page('url=/c')), null);
  assert.deepEqual([cache.stats.entries, cache.stats.bytes], [0, 0]);
});

test('answer cache: the answer to a query is cached from its second request on', async () => {
  const cache = new AnswerCache(1 << 20);
  const key = { kind: 'query', principal, text: 'things\n{}' } as const;
  await put(cache, key, 'first', ['items']);
  assert.equal(found(cache, key), null);
  await put(cache, key, 'second', ['items']);
  assert.equal(found(cache, key), 'second');
  change(cache, 'items');
  assert.equal(found(cache, key), null);
  await put(cache, key, 'third', ['items']);
  assert.equal(found(cache, key), 'third');
});

test('answer cache: an answer that depends on more than its subjects is not cached', async () => {
  const cache = new AnswerCache(1 << 20);
  await cache.answerTo(page('q'), async () => answer('x', null));
  assert.equal(found(cache, page('q')), null);
});

for (const [name, bytes] of [
  ['with a cache', 1 << 20],
  ['without a cache', 0],
] as const) {
  test(`answer cache: ${name}, concurrent requests share one computation`, async () => {
    const cache = new AnswerCache(bytes);
    const computations = new Computations(cache, page('url=/a'));
    const asked = [computations.ask(), computations.ask(), computations.ask()];
    computations.finish(0, 'one');
    assert.deepEqual(await Promise.all(asked), ['one', 'one', 'one']);
    assert.equal(computations.count, 1);
    assert.equal(found(cache, page('url=/a')) === null, bytes === 0);
  });

  test(`answer cache: ${name}, a request after a change gets nothing whose computation began before it`, async () => {
    const cache = new AnswerCache(bytes);
    const computations = new Computations(cache, page('url=/a'));
    const early = computations.ask();
    change(cache, 'view a');
    const late = [computations.ask(), computations.ask()];
    assert.equal(computations.count, 1);
    computations.finish(0, 'old');
    assert.equal(await early, 'old');
    assert.equal(computations.count, 2);
    assert.equal(found(cache, page('url=/a')), null);
    computations.finish(1, 'new');
    assert.deepEqual(await Promise.all(late), ['new', 'new']);
    assert.equal(computations.count, 2);
  });

  test(`answer cache: ${name}, an unrelated change causes no new computation`, async () => {
    const cache = new AnswerCache(bytes);
    const computations = new Computations(cache, page('url=/a'));
    const early = computations.ask();
    change(cache, 'view b');
    const late = computations.ask();
    computations.finish(0, 'same');
    assert.deepEqual(await Promise.all([early, late]), ['same', 'same']);
    assert.equal(computations.count, 1);
  });

  test(`answer cache: ${name}, after any change no request shares an answer that depends on more than its subjects`, async () => {
    const cache = new AnswerCache(bytes);
    const computations = new Computations(cache, page('url=/a'), null);
    const early = computations.ask();
    change(cache, 'view b');
    const late = computations.ask();
    computations.finish(0, 'old');
    assert.equal(await early, 'old');
    computations.finish(1, 'new');
    assert.equal(await late, 'new');
  });
}

test('answer cache: a failed computation fails all its requests, and the next request starts a new one', async () => {
  const computations = new Computations(new AnswerCache(1 << 20), page('url=/a'));
  const asked = [computations.ask(), computations.ask()];
  computations.fail(0);
  for (const one of asked) await assert.rejects(one, /no/);
  const again = computations.ask();
  computations.finish(1, 'yes');
  assert.equal(await again, 'yes');
});

test('answer cache: a computation from before the cache was emptied is not cached, and replaces nothing newer', async () => {
  const cache = new AnswerCache(1 << 20);
  const computations = new Computations(cache, page('url=/a'));
  const slow = computations.ask();
  cache.invalidate(null);
  const quick = computations.ask();
  computations.finish(1, 'new');
  assert.equal(await quick, 'new');
  computations.finish(0, 'old');
  assert.equal(await slow, 'old');
  assert.equal(found(cache, page('url=/a')), 'new');
});

test('answer cache: memory stays bounded, and frequently requested answers stay longest', async () => {
  const cache = new AnswerCache(100_000);
  for (let at = 0; at < 1000; at += 1) {
    await put(cache, page(`q${at}`), 'x'.repeat(1000), [`view ${at}`]);
    assert.ok(cache.find(page('q0')) !== null, `q0 after ${at}`);
    assert.ok(cache.stats.bytes <= 100_000);
  }
  assert.ok(cache.stats.evicted > 900);
});

test('answer cache: compressed forms count, and an evicted answer accepts none', async () => {
  const cache = new AnswerCache(100_000);
  const kept = await cache.answerTo(page('q'), async () => answer('x', ['view a']));
  const { bytes } = cache.stats;
  cache.updateSize(page('q'), kept, 500);
  assert.equal(cache.stats.bytes, bytes + 500);
  cache.updateSize(page('q'), new FinishedAnswer(Buffer.from('x')), 500);
  assert.equal(cache.stats.bytes, bytes + 500);
  change(cache, 'view a');
  cache.updateSize(page('q'), kept, 500);
  assert.deepEqual([cache.stats.entries, cache.stats.bytes], [0, 0]);
});

test('answer cache: an answer that would take much of the cache is not cached', async () => {
  const cache = new AnswerCache(8_000);
  await put(cache, page('q'), 'x'.repeat(1000), ['view a']);
  assert.equal(found(cache, page('q')), null);
  change(cache, 'view a');
  assert.equal(cache.stats.invalidated, 0);
});

test('answer cache: a cache of no bytes stores nothing', async () => {
  const cache = new AnswerCache(0);
  await put(cache, page('q'), 'x', ['view a']);
  assert.equal(found(cache, page('q')), null);
});

/**
 * A model with versions, readers that read a subject and answer later, and announcements that arrive late but in order. Every
 * answer must be as new as the last announcement that had arrived at its request.
 */
test('answer cache: in any interleaving, an answer is as new as the last change announced before the request', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('write' as const), subject: fc.nat(2) }),
    fc.record({ kind: fc.constant('announce' as const) }),
    fc.record({ kind: fc.constant('ask' as const), subject: fc.nat(2) }),
    fc.record({ kind: fc.constant('finish' as const), which: fc.nat(5) }),
    fc.record({ kind: fc.constant('find' as const), subject: fc.nat(2) }),
    fc.record({ kind: fc.constant('empty' as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const cache = new AnswerCache(1 << 20);
      const versions = [0, 0, 0];
      const announced = [0, 0, 0];
      const waiting: { subject: number; version: number }[] = [];
      const reading: (() => void)[] = [];
      const asked: Promise<void>[] = [];
      const ask = async (subject: number) => {
        const needed = announced[subject] ?? 0;
        const { body } = await cache.answerTo(page(`q${subject}`), () => {
          const computed = answer(String(versions[subject] ?? 0), [`view ${subject}`]);
          return new Promise((resolve) => reading.push(() => resolve(computed)));
        });
        assert.ok(Number(Buffer.from(body).toString()) >= needed);
      };
      for (const action of steps) {
        if (action.kind === 'write') {
          const version = (versions[action.subject] ?? 0) + 1;
          versions[action.subject] = version;
          waiting.push({ subject: action.subject, version });
        } else if (action.kind === 'announce') {
          const next = waiting.shift();
          if (next === undefined) continue;
          announced[next.subject] = next.version;
          change(cache, `view ${next.subject}`);
        } else if (action.kind === 'ask') asked.push(ask(action.subject));
        else if (action.kind === 'finish') {
          const [finish] = reading.splice(action.which % Math.max(1, reading.length), 1);
          finish?.();
          await new Promise(setImmediate);
        } else if (action.kind === 'empty') cache.empty();
        else {
          const text = found(cache, page(`q${action.subject}`));
          if (text !== null) assert.ok(Number(text) >= (announced[action.subject] ?? 0));
        }
      }
      while (reading.length > 0) {
        reading.pop()?.();
        await new Promise(setImmediate);
      }
      await Promise.all(asked);
    }),
    { numRuns: runs(300) },
  );
});

test('several answers: cached ones are not computed again, and those that change meanwhile are not cached', async () => {
  const cache = new AnswerCache(1 << 20);
  const keys = ['a', 'b', 'c'].map(page);
  const texts = async (version: string, meanwhile = () => {}) => {
    const given = await cache.answersTo(keys, async (missing) => {
      meanwhile();
      return missing.map((at) => answer(`${'abc'[at]}${version}`, [`view ${'abc'[at]}`]));
    });
    return given.map(({ body }) => Buffer.from(body).toString());
  };
  await put(cache, page('b'), 'b0', ['view b']);
  assert.deepEqual(await texts('1', () => change(cache, 'view c')), ['a1', 'b0', 'c1']);
  assert.deepEqual(await texts('2'), ['a1', 'b0', 'c2']);
  change(cache, 'view a', 'view b');
  assert.deepEqual(await texts('3'), ['a3', 'b3', 'c2']);
});

test('answer cache: a text counts as repeated from its second request, until very many others were requested', () => {
  const seen = new SeenOnceFilter();
  assert.deepEqual([seen.add('a'), seen.add('a'), seen.add('b')], [false, true, false]);
  for (let at = 0; at < 1_000_000; at += 1) seen.add(`other ${at}`);
  assert.equal(seen.add('a'), false);
});
