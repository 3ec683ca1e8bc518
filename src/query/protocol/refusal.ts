/** The refusal that a worker sends instead of an answer if a query is too expensive. */
import { distinctCellsMax, queryPageUnitsMax } from '../../contract/limits.ts';
import type { MessageBody } from '../transport/messages.ts';

/** The message is for the client. */
export class RefusedQueryError extends Error {
  override readonly name = 'RefusedQueryError';
}

/** For a page of large items, or one sorted by large values. */
export const pageTooLarge = `The page has more than ${queryPageUnitsMax} bytes: use a smaller pageSize, or sort by shorter values`;
/** For facets of large values, which count towards the page. */
export const facetsTooLarge = `The facets and the page have more than ${queryPageUnitsMax} bytes together: use fewer facets, a smaller size, or fields with shorter values`;
/** The values of `distinct` of all workers are compared in one process. */
export const distinctTooLarge = `distinct: there are more than ${distinctCellsMax} values, each counted once, and once more for each of the first four sort keys: narrow the filters, or sort by fewer fields`;

const refused = false;

/** @param why message for the client */
export function encodeRefusal(why: string): MessageBody {
  return [refused, why];
}

/** @throws RefusedQueryError if the body is a refusal */
export function throwRefusal(body: MessageBody): void {
  if (!Array.isArray(body) || body[0] !== refused) return;
  const [, why] = body as [false, string];
  throw new RefusedQueryError(why);
}
