/**
 * Answers that are made of many bytes take turns. A front makes a few at a time, and few for each client. So their
 * memory is bounded, and no client's answers wait behind all those of another.
 */
import { ProblemError, problems } from '../../contract/errors.ts';
import { largeAnswersMax, largeAnswersOfClientMax, largeAnswersWaitingMax } from '../../contract/limits.ts';
import { Turns } from '../../lib/turns.ts';

/** Clients are the owners. Where too many answers of one wait, more are `unavailable`. */
export class LargeAnswers extends Turns {
  constructor() {
    super({
      atOnceMax: largeAnswersMax,
      ofOwnerMax: largeAnswersOfClientMax,
      waitingMax: largeAnswersWaitingMax,
      refusal: () => new ProblemError(problems.unavailable),
    });
  }
}
