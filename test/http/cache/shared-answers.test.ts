import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientPrincipal } from '../../../src/config/configuration.ts';
import { AnswerCache } from '../../../src/http/cache/answer-cache.ts';
import { type ComputedAnswer, type Shared, sharedAnswer } from '../../../src/http/cache/shared-answers.ts';
import { FinishedAnswer } from '../../../src/http/delivery/finished-answer.ts';
import { subjectKey } from '../../../src/store/derived/subjects.ts';

/** The cache looks at a principal's identity alone. */
const principal = Object.freeze({ kind: 'client' }) as unknown as ClientPrincipal;

/** Computations that end when the test says so. */
class Scene {
  readonly shared: Shared = { principal, query: 'url=/a', flight: null };
  readonly #computing: {
    finish: (text: string) => void;
    fail: (error: Error) => void;
  }[] = [];

  constructor(readonly cache: AnswerCache) {}

  get computations(): number {
    return this.#computing.length;
  }

  ask(): Promise<string> {
    const compute = () =>
      new Promise<ComputedAnswer>((resolve, reject) => {
        this.#computing.push({
          finish: (text) =>
            resolve({ answer: new FinishedAnswer(Buffer.from(text)), reads: () => [subjectKey('view a')] }),
          fail: reject,
        });
      });
    return sharedAnswer(this.cache, this.shared, compute).then(({ body }) => Buffer.from(body).toString());
  }

  finish(at: number, text: string): void {
    this.#computing[at]?.finish(text);
  }

  fail(at: number): void {
    this.#computing[at]?.fail(new Error('no'));
  }
}

for (const [name, bytes] of [
  ['with a cache', 1 << 20],
  ['without a cache', 0],
] as const) {
  test(`${name}, what is asked for by many at a time is computed once`, async () => {
    const scene = new Scene(new AnswerCache(bytes));
    const asked = [scene.ask(), scene.ask(), scene.ask()];
    scene.finish(0, 'one');
    assert.deepEqual(await Promise.all(asked), ['one', 'one', 'one']);
    assert.equal(scene.computations, 1);
    assert.equal(scene.cache.find(principal, 'url=/a') === null, bytes === 0);
  });

  test(`${name}, whoever comes after a change gets nothing that was begun before it`, async () => {
    const scene = new Scene(new AnswerCache(bytes));
    const early = scene.ask();
    scene.cache.invalidate([subjectKey('view a')]);
    const late = [scene.ask(), scene.ask()];
    assert.equal(scene.computations, 1);
    scene.finish(0, 'old');
    assert.equal(await early, 'old');
    assert.equal(scene.computations, 2);
    scene.finish(1, 'new');
    assert.deepEqual(await Promise.all(late), ['new', 'new']);
    assert.equal(scene.computations, 2);
  });

  test(`${name}, a change of something else makes nobody compute again`, async () => {
    const scene = new Scene(new AnswerCache(bytes));
    const early = scene.ask();
    scene.cache.invalidate([subjectKey('view b')]);
    const late = scene.ask();
    scene.finish(0, 'same');
    assert.deepEqual(await Promise.all([early, late]), ['same', 'same']);
    assert.equal(scene.computations, 1);
  });
}

test('a computation that fails fails for all who wait, and the next one is a new one', async () => {
  const scene = new Scene(new AnswerCache(1 << 20));
  const asked = [scene.ask(), scene.ask()];
  scene.fail(0);
  for (const one of asked) await assert.rejects(one, /no/);
  const again = scene.ask();
  scene.finish(1, 'yes');
  assert.equal(await again, 'yes');
});
