import type { ProblemError } from '../contract/errors.ts';
import type { Answer } from './answer.ts';
import type { Call } from './call.ts';

/** Answers a call. @throws ProblemError for what the client can change, StoreUnavailableError for what passes */
export type Handler = (call: Call) => Answer | Promise<Answer> | AnswerToBody;

/**
 * What a handler gives back that answers to its whole body: without a promise between them, so that a request which
 * came in one piece can be answered in the turn that it came in.
 */
export class AnswerToBody {
  constructor(
    readonly bodyBytesMax: number,
    /** For a longer body. */
    readonly tooLarge: ProblemError,
    /** Throws and rejects as a handler does. @param body only valid during the call */
    readonly answer: (body: Buffer) => Answer | Promise<Answer>,
  ) {}
}
