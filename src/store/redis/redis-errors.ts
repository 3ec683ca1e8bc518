/** The errors of the store that reach callers, and which of them an error of the client library is. */
import { InvariantError } from '../../lib/assert.ts';

/** Redis did not take or answer a command: try again later. Front ends see it as 503. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
}

/** Redis has reached its `maxmemory` and takes in nothing new until it has room again. */
export class StoreFullError extends StoreUnavailableError {}

/** Another worker owns the partition now; what this one was doing must be dropped. */
export class FencedError extends Error {
  override readonly name = 'FencedError';
}

/** Awaits a reply of Redis, and converts the client library's errors. @throws FencedError, StoreFullError, StoreUnavailableError */
export async function answerOf<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw storeError(error);
  }
}

/** Turns an error of the client library into one of ours; errors and mistakes of our own pass through. */
export function storeError(error: unknown): Error {
  if (error instanceof StoreUnavailableError || error instanceof FencedError) return error;
  if (!(error instanceof Error)) return new StoreUnavailableError(String(error));
  if (error.message.startsWith('FENCED')) return new FencedError(error.message);
  if (error.message.startsWith('OOM')) return new StoreFullError(`Redis: ${error.message}`);
  if (isProgrammingError(error)) return error;
  // Its own message names an option of the library, which cannot be set here.
  if (error.name === 'MaxRetriesPerRequestError') {
    return new StoreUnavailableError('Redis: the connection was lost before it responded');
  }
  return new StoreUnavailableError(`Redis: ${error.message}`);
}

/**
 * Temporary errors of the class ERR: of scripts for a slot that is being moved, in the words of Redis 7 and of Redis 8; and of a
 * new connection to a Redis at its `maxclients`. A Redis in a cluster adds "+ cluster connections" to that.
 */
const passing = /non local key|during rehashing of the slot|max number of clients/;

const ours = [InvariantError, TypeError, RangeError, SyntaxError];

/** Errors that mean a mistake of our own; trying again cannot help. */
function isProgrammingError(error: Error): boolean {
  if (ours.some((kind) => error instanceof kind)) return true;
  return /^(ERR|WRONGTYPE|CROSSSLOT|NOPERM)\b/.test(error.message) && !passing.test(error.message);
}
