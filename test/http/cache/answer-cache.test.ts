import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ClientPrincipal } from '../../../src/config/configuration.ts';
import { AnswerCache, changesRemembered } from '../../../src/http/cache/answer-cache.ts';
import { FinishedAnswer } from '../../../src/http/delivery/finished-answer.ts';
import { subjectKey } from '../../../src/store/derived/subjects.ts';
import { runs } from '../../support/runs.ts';

/** The cache looks at a principal's identity alone. */
const principal = Object.freeze({ kind: 'client' }) as unknown as ClientPrincipal;
const other = Object.freeze({ kind: 'client' }) as unknown as ClientPrincipal;

function answerOf(text: string): FinishedAnswer {
  return new FinishedAnswer(Buffer.from(text));
}

function textOf(answer: FinishedAnswer | null): string | null {
  return answer === null ? null : Buffer.from(answer.body).toString();
}

function put(cache: AnswerCache, query: string, text: string, reads: readonly string[]): void {
  const computation = cache.begin();
  cache.store(computation, principal, query, answerOf(text), () => reads.map(subjectKey));
  cache.end(computation);
}

test('an answer is found by its client and query until something that it read changes', () => {
  const cache = new AnswerCache(1 << 20);
  put(cache, 'url=/a', 'a', ['claim a', 'view a']);
  put(cache, 'url=/b', 'b', ['claim b', 'view a']);
  put(cache, 'url=/c', 'c', ['claim c']);
  assert.equal(textOf(cache.find(principal, 'url=/a')), 'a');
  assert.equal(cache.find(other, 'url=/a'), null);
  cache.invalidate([subjectKey('view a'), subjectKey('view z')]);
  assert.equal(cache.find(principal, 'url=/a'), null);
  assert.equal(cache.find(principal, 'url=/b'), null);
  assert.equal(textOf(cache.find(principal, 'url=/c')), 'c');
  cache.invalidate(null);
  assert.equal(cache.find(principal, 'url=/c'), null);
  assert.deepEqual([cache.figures.entries, cache.figures.bytes], [0, 0]);
});

test('an answer whose subject changed while it was computed is not kept', () => {
  const cache = new AnswerCache(1 << 20);
  const early = cache.begin();
  cache.invalidate([subjectKey('view a')]);
  const late = cache.begin();
  cache.store(early, principal, 'early', answerOf('1'), () => [subjectKey('view a')]);
  cache.store(late, principal, 'late', answerOf('2'), () => [subjectKey('view a')]);
  cache.end(early);
  cache.end(late);
  assert.equal(cache.find(principal, 'early'), null);
  assert.equal(textOf(cache.find(principal, 'late')), '2');
});

test('a slow reader does not bring back what a later one has replaced', () => {
  const cache = new AnswerCache(1 << 20);
  const slow = cache.begin();
  put(cache, 'q', 'new', ['view a']);
  cache.store(slow, principal, 'q', answerOf('old'), () => [subjectKey('view a')]);
  cache.end(slow);
  assert.equal(textOf(cache.find(principal, 'q')), 'new');
});

test('an answer computed across a gap in the changes is not kept', () => {
  const cache = new AnswerCache(1 << 20);
  const computation = cache.begin();
  cache.invalidate(null);
  cache.store(computation, principal, 'q', answerOf('1'), () => [subjectKey('view a')]);
  cache.end(computation);
  assert.equal(cache.find(principal, 'q'), null);
});

test('with computations always under way, changes are not remembered for ever', () => {
  const cache = new AnswerCache(1 << 20);
  const endless = cache.begin();
  const digests = Array.from({ length: changesRemembered + 1 }, (_, at) => subjectKey(`view ${at}`));
  cache.invalidate(digests.slice(0, -1));
  const before = cache.begin();
  cache.invalidate(digests.slice(-1));
  const after = cache.begin();
  assert.equal(
    cache.store(before, principal, 'q', answerOf('1'), () => [subjectKey('view a')]),
    false,
  );
  assert.equal(
    cache.store(after, principal, 'q', answerOf('2'), () => [subjectKey('view a')]),
    true,
  );
  for (const computation of [endless, before, after]) cache.end(computation);
  assert.equal(textOf(cache.find(principal, 'q')), '2');
});

test('memory stays bounded, and what is asked for stays longest', () => {
  const cache = new AnswerCache(100_000);
  for (let at = 0; at < 1000; at += 1) {
    put(cache, `q${at}`, 'x'.repeat(1000), [`view ${at}`]);
    assert.ok(cache.find(principal, 'q0') !== null, `q0 after ${at}`);
    assert.ok(cache.figures.bytes <= 100_000);
  }
  assert.ok(cache.figures.evicted > 900);
});

test('a cache of no bytes keeps nothing', () => {
  const cache = new AnswerCache(0);
  put(cache, 'q', 'x', ['view a']);
  assert.equal(cache.find(principal, 'q'), null);
});

/**
 * A store of versions, readers that read a subject and store the answer later, and announcements that come late but in
 * order: whatever is found must be as new as the last announcement that has arrived.
 */
test('whatever the interleaving, a found answer is as new as the last announced change', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('write' as const), subject: fc.nat(2) }),
    fc.record({ kind: fc.constant('announce' as const) }),
    fc.record({ kind: fc.constant('read' as const), subject: fc.nat(2) }),
    fc.record({ kind: fc.constant('finish' as const), which: fc.nat(5) }),
    fc.record({ kind: fc.constant('find' as const), subject: fc.nat(2) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const cache = new AnswerCache(1 << 20);
      const versions = [0, 0, 0];
      const announced = [0, 0, 0];
      const waiting: { subject: number; version: number }[] = [];
      const reading: { subject: number; version: number; computation: ReturnType<AnswerCache['begin']> }[] =
        [];
      for (const action of steps) {
        if (action.kind === 'write') {
          const version = (versions[action.subject] ?? 0) + 1;
          versions[action.subject] = version;
          waiting.push({ subject: action.subject, version });
        } else if (action.kind === 'announce') {
          const next = waiting.shift();
          if (next === undefined) continue;
          announced[next.subject] = next.version;
          cache.invalidate([subjectKey(`view ${next.subject}`)]);
        } else if (action.kind === 'read') {
          const { subject } = action;
          reading.push({ subject, computation: cache.begin(), version: versions[subject] ?? 0 });
        } else if (action.kind === 'finish') {
          const [read] = reading.splice(action.which % Math.max(1, reading.length), 1);
          if (read === undefined) continue;
          const { subject, version, computation } = read;
          cache.store(computation, principal, `q${subject}`, answerOf(String(version)), () => [
            subjectKey(`view ${subject}`),
          ]);
          cache.end(computation);
        } else {
          const found = cache.find(principal, `q${action.subject}`);
          if (found === null) continue;
          assert.ok(Number(textOf(found)) >= (announced[action.subject] ?? 0));
        }
      }
    }),
    { numRuns: runs(300) },
  );
});
