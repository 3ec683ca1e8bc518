/** Answers to the questions of a second round: exact counts of facets, and texts of rows. */
import { chain, type Maybe } from '../../search/pace.ts';
import type { FacetGroups } from '../../search/shard-answer.ts';
import type { MessageBody } from '../../store/streams/message-body.ts';
import { groupsTexts } from '../result/facets-text.ts';
import { SizeBudget } from '../result/size-budget.ts';
import { encodeRefusal, facetsTooLarge, throwRefusal } from './refusal.ts';

/** Groups or their refusal, in steps. */
export function encodeCounts(counts: readonly FacetGroups[]): Maybe<MessageBody> {
  const all = () => Number.POSITIVE_INFINITY;
  const texts = groupsTexts(counts, all, new SizeBudget());
  return chain(texts, (text) => text ?? encodeRefusal(facetsTooLarge));
}

/** The groups of each facet, in the order of the needs. @throws RefusedQueryError */
export function decodeCounts(body: MessageBody): FacetGroups[] {
  throwRefusal(body);
  return JSON.parse(body as string) as FacetGroups[];
}

/** Characters of an answer from `encodeCounts`; 0 for a refusal. */
export function countsLength(body: MessageBody): number {
  return typeof body === 'string' ? body.length : 0;
}

/** @param fields JSON text of the fields of each row; null for a row that is not here */
export function encodeTexts(fields: readonly (Buffer | null)[]): MessageBody {
  return fields;
}

/** The texts in the order in which they were asked for. @throws RefusedQueryError */
export function decodeTexts(body: MessageBody): (Buffer | null)[] {
  throwRefusal(body);
  return body as (Buffer | null)[];
}
