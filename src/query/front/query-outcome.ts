/** Turns the answer to a query into its outcome. */
import type { KeyObject } from 'node:crypto';
import { isBoundToNow } from '../../search/checked-query.ts';
import type { RowPlace } from '../../search/shard-answer.ts';
import { pinOf, sealToken, tokenUse } from '../next-page-token.ts';
import type { QueryOutcome, QueryResult } from '../query-service.ts';
import { resultText } from '../result/result-text.ts';
import type { MergedRows } from './merged-rows.ts';
import type { GoodQuery, QueryAnswer } from './query-answer.ts';

/** @param secret signs tokens */
export function outcomeOf(query: GoodQuery, answer: QueryAnswer, secret: KeyObject): QueryOutcome {
  if (answer.kind === 'refused') return { ok: false, status: 400, errors: [answer.why] };
  const { subject } = query;
  const { configuration } = answer;
  const result: QueryResult =
    answer.kind === 'text' ? { kind: 'text', text: answer.text } : resultOf(query, answer, secret);
  const { search } = query.query;
  return { ok: true, result, subject, configuration, dependsOnTime: search !== null && isBoundToNow(search) };
}

function resultOf(
  { index, query, aliases }: GoodQuery,
  { total, rows, facets: merged, stats }: MergedRows,
  secret: KeyObject,
): QueryResult {
  const last = rows.length === query.pageSize ? rows.at(-1) : undefined;
  const seal = (place: RowPlace) => sealToken(secret, tokenUse(index, query), place, pinOf(query, stats));
  const nextPageToken = last === undefined ? null : seal(last.place);
  const facets = merged.map(({ name, field, groups, isValid, stats }) => {
    return { name, field, groups, isValid, ...(stats && { stats }) };
  });
  if (aliases === null) {
    const texts = rows.map(({ text }) => text);
    return { kind: 'text', text: resultText(total, texts, { facets, nextPageToken }) };
  }
  return {
    kind: 'rows',
    totalResults: total,
    rows: rows.map(({ place: { sourceId, originId }, text }) => ({ sourceId, originId, text })),
    facets,
    nextPageToken,
    aliases,
  };
}
