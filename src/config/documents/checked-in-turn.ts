/**
 * The processor time that checks of configurations take of a front. They work a slice at a time and rest in between, so
 * that readers hardly notice them; and no check takes more than its budget.
 */
import { setTimeout as rest } from 'node:timers/promises';
import { ProblemError, problems } from '../../contract/errors.ts';
import { configurationCpuMs, configurationTimeShare, sliceMs } from '../../contract/limits.ts';
import type { Steps } from '../../lib/cooperative-yield.ts';

/** Runs steps of the check of one tenant's configuration. @throws ProblemError 422 where they take too long */
export async function checkedInTurn<T>(steps: Steps<T>, budgetMs: number = configurationCpuMs): Promise<T> {
  let spentMs = 0;
  for (;;) {
    const beganMs = performance.now();
    let tookMs = 0;
    do {
      const { done, value } = steps.next();
      if (done) return value;
      tookMs = performance.now() - beganMs;
    } while (tookMs < sliceMs);
    spentMs += tookMs;
    if (spentMs > budgetMs) {
      throw new ProblemError(
        problems.configurationInvalid([`its check takes more than ${budgetMs} ms: make it smaller`]),
      );
    }
    await rest((tookMs * (1 - configurationTimeShare)) / configurationTimeShare);
  }
}
