/**
 * A worker's answer to a query. If other workers have rows too, the worker writes each row as JSON text, and the front orders
 * the rows by their places and copies the bytes. A worker that has all partitions writes the whole JSON result, and the front
 * passes it on.
 */
import { queryPageUnitsMax } from '../../contract/limits.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { CheckedQuery } from '../../search/checked-query.ts';
import type { PartialAnswer } from '../../search/merge-answers.ts';
import { type PackedStats, packStats, type SearchStats, unpackStats } from '../../search/search-stats.ts';
import type { FacetGroups, RowPlace, ShardAnswer, ShownRow } from '../../search/shard-answer.ts';
import { digestOf } from '../../store/codec/digest.ts';
import { facetsOf, facetsTextOf, groupsTexts, resultOfRows, SizeBudget } from '../result/result-text.ts';
import { joinedRows, type PageRows, pageRows, rowFormOf } from '../result/row-text.ts';
import type { MessageBody } from '../transport/messages.ts';
import { encodeRefusal, facetsTooLarge, pageTooLarge, throwRefusal } from './shard-reply.ts';

/** A row that the front received. */
export interface SentRow {
  readonly place: RowPlace;
  readonly score: number;
  readonly updatedAtMs: number;
  /** Length of the row's JSON text in bytes. */
  readonly textBytes: number;
  /** From `rowText`; null if the texts of the answer were too long to be sent without a request. */
  readonly text: Buffer | null;
  /** From `fieldsDigest`; null beside a text. */
  readonly digest: string | null;
}

type PackedRow = [
  values: RowPlace['values'],
  originId: string,
  sourceId: string,
  score: number,
  updatedAtMs: number,
  textBytes: number,
  digest?: string,
];

/**
 * Most rows of several workers are not on the page. If the texts are longer than this, the front requests only those that it
 * needs.
 */
const unaskedBytesMax = 1024 * 1024;

/** False for a later page with highlights, which are too expensive for rows that are not on the page. */
export function sendsTexts({ highlight, offset }: CheckedQuery): boolean {
  return highlight === null || offset === 0;
}

/**
 * Identifies the fields of a row, with the highlights that it is sent with. If they change before the front requests the text,
 * the row may no longer match the query, so its text is not sent. The time of change does not suffice: fields from lookups change
 * without it. A collision shows the new fields of the same item.
 */
export function fieldsDigest(fieldsBytes: Buffer): string {
  return digestOf(fieldsBytes).toString('base64url');
}

export interface AnswerTerms {
  /** Name of the queried index. */
  readonly index: string;
  readonly query: CheckedQuery;
  /** True if no other worker has rows. Then the worker knows the page, and does not send the rows before it. */
  readonly hasAllPartitions: boolean;
}

/** Rows and facets of an answer, or a refusal. */
export function* encodeAnswer(
  { total, rows, facets, stats }: ShardAnswer,
  { index, query, hasAllPartitions }: AnswerTerms,
): Steps<MessageBody> {
  const sent = hasAllPartitions ? rows.slice(query.offset) : rows;
  const bytesMax = hasAllPartitions ? queryPageUnitsMax : Number.POSITIVE_INFINITY;
  const page = yield* pageRows(sent, rowFormOf(index, query), bytesMax);
  if (page === null) return encodeRefusal(pageTooLarge);
  const budget = new SizeBudget();
  if (hasAllPartitions) budget.take(page.bytes);
  const facetsText = yield* groupsTexts(facets, (at) => query.facets[at]?.size ?? 0, budget);
  if (facetsText === null) return encodeRefusal(facetsTooLarge);
  const hasTexts = hasAllPartitions || (sendsTexts(query) && page.bytes <= unaskedBytesMax);
  // The rows are JSON to preserve unpaired surrogates: MessagePack strings are UTF-8.
  const rowsText = JSON.stringify(yield* packedRows(sent, page, hasTexts));
  // The front already has the statistics, unless this worker has computed them.
  const packedStats = hasAllPartitions && stats !== null ? packStats(stats) : null;
  return [total, rowsText, hasTexts ? joinedRows(page.texts) : null, facetsText, packedStats];
}

/** The cost of a digest, in units of the work budget, besides that of its bytes. */
const unitsPerDigest = 100;
const digestBytesPerUnit = 10;

function* packedRows(rows: readonly ShownRow[], { texts }: PageRows, hasTexts: boolean): Steps<PackedRow[]> {
  const packed: PackedRow[] = [];
  for (const [at, { place, score, updatedAtMs, fieldsBytes }] of rows.entries()) {
    const { values, originId, sourceId } = place;
    const row: PackedRow = [values, originId, sourceId, score, updatedAtMs, texts[at]?.bytes ?? 0];
    packed.push(row);
    if (hasTexts) continue;
    row.push(fieldsDigest(fieldsBytes));
    workBudget.units += unitsPerDigest + Math.trunc(fieldsBytes.length / digestBytesPerUnit);
    if (workBudget.isOver()) yield;
  }
  return packed;
}

export interface DecodedAnswer extends PartialAnswer<SentRow> {
  /** Statistics by which a worker with all items has scored; null otherwise. */
  readonly stats: SearchStats | null;
}

type AnswerBody = [number, string, Buffer | null, string, PackedStats | null];

/** @throws RefusedQueryError */
export function decodeAnswer(body: MessageBody): DecodedAnswer {
  throwRefusal(body);
  const [total, packed, texts, facetsText, stats] = body as AnswerBody;
  const rows: SentRow[] = [];
  let at = 0;
  for (const row of JSON.parse(packed) as PackedRow[]) {
    const [values, originId, sourceId, score, updatedAtMs, textBytes, digest = null] = row;
    const text = texts?.subarray(at, at + textBytes) ?? null;
    rows.push({ place: { values, originId, sourceId }, score, updatedAtMs, textBytes, text, digest });
    at += textBytes;
  }
  const facets = JSON.parse(facetsText) as FacetGroups[];
  return { total, rows, facets, stats: stats && unpackStats(stats) };
}

/** Number of characters of the facets in an answer from `encodeAnswer`; 0 for a refusal. */
export function facetsLength(body: MessageBody): number {
  const facets = Array.isArray(body) ? body[3] : null;
  return typeof facets === 'string' ? facets.length : 0;
}

/**
 * Writes the result or a refusal.
 * @param seal makes the token for the page after a row
 */
export function* encodeWholeAnswer(
  { total, rows, facets }: ShardAnswer,
  { index, query }: { readonly index: string; readonly query: CheckedQuery },
  seal: (last: RowPlace) => string,
): Steps<MessageBody> {
  const sent = rows.slice(query.offset);
  const page = yield* pageRows(sent, rowFormOf(index, query), queryPageUnitsMax);
  if (page === null) return encodeRefusal(pageTooLarge);
  const budget = new SizeBudget();
  budget.take(page.bytes);
  const facetsText = yield* facetsTextOf(facetsOf(query, facets), budget);
  if (facetsText === null) return encodeRefusal(facetsTooLarge);
  const last = sent.length === query.pageSize ? sent.at(-1) : undefined;
  const nextPageToken = last === undefined ? null : seal(last.place);
  return resultOfRows(total, page.texts, { facetsText, nextPageToken });
}

/** The JSON result; null for a refusal, and for an answer that must be merged. */
export function decodeWholeAnswer(body: MessageBody): Buffer | null {
  if (!(body instanceof Uint8Array)) return null;
  return body instanceof Buffer ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}
