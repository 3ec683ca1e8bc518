/**
 * A worker's answer to a query while others have rows too, for the merge. A row is JSON text from the worker to the
 * client: the front orders rows by their places and copies the bytes.
 */
import { queryPageUnitsMax } from '../../contract/limits.ts';
import type { CheckedQuery } from '../../search/checked-query.ts';
import type { PartialAnswer } from '../../search/merge.ts';
import { chain, type Maybe } from '../../search/pace.ts';
import type { FacetGroups, Row, RowPlace, ShardAnswer } from '../../search/shard-answer.ts';
import type { MessageBody } from '../../store/streams/message-body.ts';
import { groupsTexts } from '../result/facets-text.ts';
import { type PageRows, pageRows } from '../result/page-rows.ts';
import { joinedRows } from '../result/row-text.ts';
import { SizeBudget } from '../result/size-budget.ts';
import { encodeRefusal, facetsTooLarge, pageTooLarge, throwRefusal } from './refusal.ts';

/** A row as the front knows it. */
export interface SentRow {
  readonly place: RowPlace;
  readonly score: number;
  readonly updatedAtMs: number;
  /** Bytes of its text. */
  readonly textBytes: number;
  /** See `rowText`; null when the answer's texts were too long to be sent unasked. */
  readonly text: Buffer | null;
}

type PackedRow = [
  values: RowPlace['values'],
  originId: string,
  sourceId: string,
  score: number,
  updatedAtMs: number,
  textBytes: number,
];

/** Several workers send many rows that no page will show; their texts are fetched when they are long. */
const unaskedBytesMax = 1024 * 1024;

export interface AnswerTerms {
  /** Name of the index that was asked. */
  readonly index: string;
  readonly query: CheckedQuery;
  /** No other worker has rows: the page is known, and rows before it need not be sent. */
  readonly isWhole: boolean;
}

/** Rows and facets of an answer, or its refusal, in steps. */
export function encodeAnswer(
  { total, rows, facets }: ShardAnswer,
  { index, query, isWhole }: AnswerTerms,
): Maybe<MessageBody> {
  const sent = isWhole ? rows.slice(query.offset) : rows;
  const bytesMax = isWhole ? queryPageUnitsMax : Number.POSITIVE_INFINITY;
  return chain(pageRows(sent, index, bytesMax), (page) => {
    if (page === null) return encodeRefusal(pageTooLarge);
    const budget = new SizeBudget();
    if (isWhole) budget.take(page.bytes);
    const texts = groupsTexts(facets, (at) => query.facets[at]?.size ?? 0, budget);
    return chain(texts, (facetsText) => {
      if (facetsText === null) return encodeRefusal(facetsTooLarge);
      const rowTexts = isWhole || page.bytes <= unaskedBytesMax ? joinedRows(page.texts) : null;
      // JSON, so that lone surrogates of a value survive; MessagePack text is UTF-8.
      return [total, JSON.stringify(packedRows(sent, page)), rowTexts, facetsText];
    });
  });
}

function packedRows(rows: readonly Row[], { texts }: PageRows): PackedRow[] {
  return rows.map(({ place, score, updatedAtMs }, at) => {
    const { values, originId, sourceId } = place;
    return [values, originId, sourceId, score, updatedAtMs, texts[at]?.bytes ?? 0];
  });
}

/** @throws RefusedQueryError */
export function decodeAnswer(body: MessageBody): PartialAnswer<SentRow> {
  throwRefusal(body);
  const [total, packed, texts, facetsText] = body as [number, string, Buffer | null, string];
  const rows: SentRow[] = [];
  let at = 0;
  for (const row of JSON.parse(packed) as PackedRow[]) {
    const [values, originId, sourceId, score, updatedAtMs, textBytes] = row;
    const text = texts?.subarray(at, at + textBytes) ?? null;
    rows.push({ place: { values, originId, sourceId }, score, updatedAtMs, textBytes, text });
    at += textBytes;
  }
  return { total, rows, facets: JSON.parse(facetsText) as FacetGroups[] };
}

/** Length of the facets in what `encodeAnswer` made; 0 for a refusal. */
export function facetsLength(body: MessageBody): number {
  const facets = Array.isArray(body) ? body[3] : null;
  return typeof facets === 'string' ? facets.length : 0;
}
