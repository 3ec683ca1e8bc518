/** The reply of a command of the simulated Redis. Strings have one byte per character. */

export type Reply = null | number | string | Status | ErrorReply | readonly Reply[];

/** A status reply, as opposed to a string. */
export class Status {
  constructor(readonly text: string) {}
}

/** An error reply of a command. */
export class ErrorReply extends Error {
  override readonly name = 'ErrorReply';
}
