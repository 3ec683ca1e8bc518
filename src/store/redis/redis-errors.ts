/** The errors that the store throws, and the conversion of client library errors to them. */
import { ReplyError } from 'ioredis';
import { InvariantError } from '../../lib/assert.ts';

/** Redis did not accept or answer a command: try again later. Clients get a 503. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
}

/** Redis has reached its `maxmemory` and accepts no new data until there is room again. */
export class StoreFullError extends StoreUnavailableError {}

/** Redis may have run the command, or may still run it. */
export class NoReplyError extends StoreUnavailableError {}

/** Another worker owns the partition now; this one must drop its work. */
export class FencedError extends Error {
  override readonly name = 'FencedError';
}

/**
 * Awaits a reply of Redis and converts errors of the client library.
 * @throws FencedError, StoreFullError, StoreUnavailableError
 */
export async function answerOf<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw storeError(error);
  }
}

/** Converts an error of the client library to one of ours. Returns our own and programming errors unchanged. */
export function storeError(error: unknown): Error {
  if (error instanceof StoreUnavailableError || error instanceof FencedError) return error;
  if (!(error instanceof Error)) return new NoReplyError(String(error));
  if (error.message.startsWith('FENCED')) return new FencedError(error.message);
  if (error.message.startsWith('OOM')) return new StoreFullError(`Redis: ${error.message}`);
  const [cause] =
    'previousErrors' in error && Array.isArray(error.previousErrors) ? error.previousErrors : [];
  // Redis discards a transaction because it has rejected one of its commands.
  if (cause instanceof Error) return storeError(cause);
  if (isProgrammingError(error)) return error;
  // Its message mentions a library option, which users cannot set.
  if (error.name === 'MaxRetriesPerRequestError') {
    return new NoReplyError('Redis: the connection was lost before it responded');
  }
  const text = `Redis: ${error.message}`;
  return error instanceof ReplyError ? new StoreUnavailableError(text) : new NoReplyError(text);
}

/**
 * Temporary errors of the class ERR: of scripts for a slot that is being moved (Redis 7 and 8 differ), and of a new connection
 * to a Redis at its `maxclients` (a cluster node appends "+ cluster connections").
 */
const passing = /non local key|during rehashing of the slot|max number of clients/;

const ours = [InvariantError, TypeError, RangeError, SyntaxError];

/** True for errors caused by a bug of ours; retrying does not help. */
function isProgrammingError(error: Error): boolean {
  if (ours.some((kind) => error instanceof kind)) return true;
  return /^(ERR|WRONGTYPE|CROSSSLOT|NOPERM)\b/.test(error.message) && !passing.test(error.message);
}
