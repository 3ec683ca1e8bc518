/** A violated invariant: a bug, never an error of a client. The current work must not continue. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/**
 * Asserts an invariant. Cheap enough for production. The message says what was expected, without client data.
 * @throws InvariantError
 */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}
