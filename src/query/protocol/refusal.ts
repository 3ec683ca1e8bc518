/** A query that asks for more than it may, as a worker says it in place of an answer. */
import { queryPageUnitsMax } from '../../contract/limits.ts';
import type { MessageBody } from '../../store/streams/message-body.ts';

/** The message is for the client. */
export class RefusedQueryError extends Error {
  override readonly name = 'RefusedQueryError';
}

/** A page of large items, or one sorted by large values: more than a process should hold for one query. */
export const pageTooLarge = `The page has more than ${queryPageUnitsMax} bytes: ask for a smaller pageSize, or sort by shorter values`;
/** Facets of large values: they count towards the page. */
export const facetsTooLarge = `The facets have, with the page, more than ${queryPageUnitsMax} bytes: ask for fewer of them, for a smaller size, or on fields with shorter values`;
/** Why a query beside a refused one has no answer. */
export const notRun = '';

const refused = false;

/** @param why in words for the client */
export function encodeRefusal(why: string): MessageBody {
  return [refused, why];
}

/** @throws RefusedQueryError for a refusal; nothing for an answer */
export function throwRefusal(body: MessageBody): void {
  if (!Array.isArray(body) || body[0] !== refused) return;
  const [, why] = body as [false, string];
  throw new RefusedQueryError(why);
}
