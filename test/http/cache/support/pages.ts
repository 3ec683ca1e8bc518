/** Keys and computations for tests of the answer cache. */
import assert from 'node:assert/strict';
import type { ClientPrincipal } from '../../../../src/config/configuration.ts';
import type { AnswerCache, AnswerKey, ComputedAnswer } from '../../../../src/http/cache/answer-cache.ts';
import { FinishedAnswer } from '../../../../src/http/cache/finished-answer.ts';
import { subjectKey } from '../../../../src/store/derived/subjects.ts';
import { apiKeys, testConfiguration } from '../../support/site.ts';

const configuration = testConfiguration();

function clientOf(apiKey: string): ClientPrincipal {
  const principal = configuration.authenticate(apiKey);
  assert.ok(principal?.kind === 'client');
  return principal;
}

export const principal = clientOf(apiKeys.client);
export const otherPrincipal = clientOf(apiKeys.otherClient);

export function page(text: string): AnswerKey {
  return { kind: 'delivery', principal, text };
}

/** @param reads names of subjects; null: the answer depends on more */
export function answer(text: string, reads: readonly string[] | null): ComputedAnswer {
  return {
    answer: new FinishedAnswer(Buffer.from(text)),
    reads: () => reads?.map(subjectKey) ?? null,
  };
}

/** Puts an answer into the cache. */
export async function put(
  cache: AnswerCache,
  key: AnswerKey,
  text: string,
  reads: readonly string[],
): Promise<void> {
  await cache.answerTo(key, async () => answer(text, reads));
}

export function found(cache: AnswerCache, key: AnswerKey): string | null {
  const kept = cache.find(key);
  return kept === null ? null : Buffer.from(kept.body).toString();
}

export function change(cache: AnswerCache, ...subjects: readonly string[]): void {
  cache.invalidate(subjects.map(subjectKey));
}

/** Computations of one answer, which reads `view a`, that end when the test says so. */
export class Computations {
  readonly #under: { finish: (computed: ComputedAnswer) => void; fail: (error: Error) => void }[] = [];

  constructor(
    private readonly cache: AnswerCache,
    private readonly key: AnswerKey,
    private readonly reads: readonly string[] | null = ['view a'],
  ) {}

  get count(): number {
    return this.#under.length;
  }

  async ask(): Promise<string> {
    const { body } = await this.cache.answerTo(
      this.key,
      () => new Promise((finish, fail) => this.#under.push({ finish, fail })),
    );
    return Buffer.from(body).toString();
  }

  /** @param at index of the computation, in the order of their starts */
  finish(at: number, text: string): void {
    this.#under[at]?.finish(answer(text, this.reads));
  }

  fail(at: number): void {
    this.#under[at]?.fail(new Error('no'));
  }
}
