/** The reply of a command of the simulated Redis. Strings have one byte per character. */

export type Reply = null | number | string | Status | ErrorReply | readonly Reply[];

/** A text that is a status has no bytes of its own. */
export class Status {
  constructor(readonly text: string) {}
}

/** An error as a command answers it. */
export class ErrorReply extends Error {
  override readonly name = 'ErrorReply';
}
