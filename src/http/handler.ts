import type { Answer } from './answer.ts';
import type { Call } from './call.ts';

/** Answers a call. @throws ProblemError for what the client can change, StoreUnavailableError for what passes */
export type Handler = (call: Call) => Answer | Promise<Answer>;
