/** Turns the answer to a query into its outcome. */
import type { KeyObject } from 'node:crypto';
import { sealToken, tokenUse } from '../next-page-token.ts';
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
  return { ok: true, result, subject, configuration };
}

function resultOf(
  { index, query, aliases }: GoodQuery,
  { total, rows, facets: merged }: MergedRows,
  secret: KeyObject,
): QueryResult {
  const last = rows.length === query.pageSize ? rows.at(-1) : undefined;
  const nextPageToken = last === undefined ? null : sealToken(secret, tokenUse(index, query), last.place);
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
