/** A violated invariant: a bug, never an error of a client. The current work must not continue. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/**
 * States what must hold here. Cheap enough to stay on in production; the message says what was expected, and holds no
 * content of clients. @throws InvariantError
 */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}
