/** Turns the answer to a query into its outcome. */
import { sealToken, tokenUse } from '../next-page-token.ts';
import { notRun } from '../protocol/refusal.ts';
import type { QueryOutcome, QueryResult } from '../query-service.ts';
import { resultText } from '../result/result-text.ts';
import type { QueryAnswer } from './answers.ts';
import type { MergedRows } from './merged-rows.ts';
import { besideBadOne, type GoodQuery } from './query-checker.ts';

/** @param secret signs tokens */
export function outcomeOf(query: GoodQuery, answer: QueryAnswer, secret: Buffer): QueryOutcome {
  if (answer.kind === 'refused') {
    return answer.why === notRun ? besideBadOne : { ok: false, status: 400, errors: [answer.why] };
  }
  const { labels, subject } = query;
  const { configuration } = answer;
  const result: QueryResult =
    answer.kind === 'text' ? { kind: 'text', text: answer.text } : resultOf(query, answer, secret);
  return { ok: true, result, labels, subject, configuration };
}

function resultOf(
  { index, query, aliases }: GoodQuery,
  { total, rows, facets: merged }: MergedRows,
  secret: Buffer,
): QueryResult {
  const last = rows.length === query.pageSize ? rows.at(-1) : undefined;
  const nextPageToken = last === undefined ? null : sealToken(secret, tokenUse(index, query), last.place);
  const facets = merged.map(({ name, field, groups, isValid }) => ({ name, field, groups, isValid }));
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
