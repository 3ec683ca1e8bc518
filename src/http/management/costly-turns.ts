import { ProblemError, problems } from '../../contract/errors.ts';
import { costlyCallsWaitingMax } from '../../contract/limits.ts';
import { Turns } from '../../lib/turns.ts';

/**
 * What takes processor time for managers is done one after the other, so that readers hardly notice any number of them. Tenants are
 * the owners. Where too many calls of one wait, more are `unavailable`.
 */
export class CostlyTurns extends Turns {
  /** @param atOnceMax turns at a time, each of another tenant */
  constructor(atOnceMax = 1) {
    super({
      atOnceMax,
      ofOwnerMax: 1,
      waitingMax: costlyCallsWaitingMax,
      refusal: () => new ProblemError(problems.unavailable),
    });
  }
}
