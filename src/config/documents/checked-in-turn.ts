/**
 * Limits the processor time of configuration checks in a front. They run in slices with pauses in between, so that they hardly
 * delay readers, and each has a budget.
 */
import { setTimeout as rest } from 'node:timers/promises';
import { ProblemError, problems } from '../../contract/errors.ts';
import { configurationCpuMs, configurationTimeShare, sliceMs } from '../../contract/limits.ts';
import type { Steps } from '../../lib/cooperative-yield.ts';

/** Runs the steps of checking one tenant's configuration. @throws ProblemError 422 if they take too long */
export async function checkedInTurn<T>(steps: Steps<T>, budgetMs: number = configurationCpuMs): Promise<T> {
  let spentMs = 0;
  for (;;) {
    const startedMs = performance.now();
    let tookMs = 0;
    do {
      const { done, value } = steps.next();
      if (done) return value;
      tookMs = performance.now() - startedMs;
    } while (tookMs < sliceMs);
    spentMs += tookMs;
    if (spentMs > budgetMs) {
      throw new ProblemError(
        problems.configurationInvalid([`checking it takes more than ${budgetMs} ms: make it smaller`]),
      );
    }
    await rest((tookMs * (1 - configurationTimeShare)) / configurationTimeShare);
  }
}
