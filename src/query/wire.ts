/**
 * How queries and answers travel between fronts and workers. A row is JSON text from the worker to the client: the
 * front orders rows by their places and copies the bytes.
 */
import type { EntityRef } from '../contract/ids.ts';
import { queryPageUnitsMax } from '../contract/limits.ts';
import type { PartialAnswer } from '../search/merge.ts';
import type { FacetNeed } from '../search/merge-facets.ts';
import type { CheckedQuery, FacetGroups, RowPlace, ShardAnswer } from '../search/types.ts';
import type { ScopedIndex } from '../store/items.ts';
import type { MessageBody } from '../store/messages.ts';
import type { Coverage } from './coverage.ts';
import { isScored, type RowPieces, rowPieces, writeRow } from './row-text.ts';

/** What a worker is asked of one index. */
export type Ask =
  | { readonly kind: 'answer'; readonly query: CheckedQuery }
  /** The second question of facets, as `Shard.facetCounts` has it. */
  | { readonly kind: 'counts'; readonly query: CheckedQuery; readonly facets: readonly FacetNeed[] }
  /** Fields of rows that came without their texts; the shard knows some of them. */
  | { readonly kind: 'texts'; readonly rows: readonly EntityRef[] };

export interface ScatterQuery extends ScopedIndex {
  readonly ask: Ask;
}

export interface ScatterRequest {
  /** Commit number that each partition must have applied before it answers. */
  readonly needs: readonly number[];
  readonly queries: readonly ScatterQuery[];
}

export function encodeRequest({ needs, queries }: ScatterRequest): MessageBody {
  return [needs, JSON.stringify(queries)];
}

export function decodeRequest(body: MessageBody): ScatterRequest {
  const [needs, queries] = body as [number[], string];
  return { needs, queries: JSON.parse(queries) as ScatterQuery[] };
}

export interface WorkerReply {
  readonly covers: Coverage;
  /** Partition -> number of the last commit that the answers can show. */
  readonly applied: ReadonlyMap<number, number>;
  /** One for each query of the request, read by the decoder of what was asked. */
  readonly answers: readonly MessageBody[];
  /** Digest of the configuration that all shards follow; null while one is being built anew. */
  readonly configuration: string | null;
}

/** What a worker says that cannot answer at the moment. */
export const cannotAnswer: MessageBody = null;

/**
 * Coverage as replies carry it; made once for all replies of one moment.
 * @param appliedOf number of a partition's last commit that the shards have
 */
export function packCoverage(covers: Coverage, appliedOf: (partition: number) => number): MessageBody {
  const flat: number[] = [];
  for (const [partition, epoch] of covers) flat.push(partition, epoch, appliedOf(partition));
  return flat;
}

/** @param covers from `packCoverage` */
export function encodeReply(
  covers: MessageBody,
  answers: readonly MessageBody[],
  configuration: string | null,
): MessageBody {
  return [covers, answers, configuration];
}

/** Null when the worker cannot answer at the moment. */
export function decodeReply(body: MessageBody): WorkerReply | null {
  if (body === cannotAnswer) return null;
  const [flat, answers, configuration] = body as [number[], MessageBody[], string | null];
  const covers = new Map<number, number>();
  const applied = new Map<number, number>();
  for (let at = 0; at + 2 < flat.length; at += 3) {
    const partition = flat[at] ?? -1;
    covers.set(partition, flat[at + 1] ?? 0);
    applied.set(partition, flat[at + 2] ?? 0);
  }
  return { covers, applied, answers, configuration };
}

/** A row as the front knows it. */
export interface WireRow {
  readonly place: RowPlace;
  readonly score: number;
  readonly updatedAtMs: number;
  /** Bytes of its text. */
  readonly textBytes: number;
  /** See `rowText`; null when the answer's texts were too long to be sent unasked. */
  readonly text: Buffer | null;
}

export type WireAnswer = PartialAnswer<WireRow>;

type PackedPlace = [
  values: RowPlace['values'],
  originId: string,
  sourceId: string,
  score: number,
  updatedAtMs: number,
  textBytes: number,
];

/** A page of large items, or one sorted by large values: more than a process should hold for one query. */
export class PageTooLargeError extends Error {
  override readonly name = 'PageTooLargeError';
}

/** Several workers send many rows that no page will show; their texts are fetched when they are long. */
const unaskedBytesMax = 1024 * 1024;

const pageTooLarge: MessageBody = null;

/**
 * @param index name of the index that was asked
 * @param isWhole no other worker has rows: the page is known, and rows before it need not be sent
 */
export function encodeAnswer(
  { total, rows, facets }: ShardAnswer,
  index: string,
  offset: number,
  isWhole: boolean,
): MessageBody {
  const sent = isWhole && offset > 0 ? rows.slice(offset) : rows;
  const isWithScore = isScored(index);
  let [placeUnits, textBytes] = [0, 0];
  const pieces: RowPieces[] = [];
  const places: PackedPlace[] = [];
  for (const { place, score, updatedAtMs, fieldsBytes } of sent) {
    const { values, originId, sourceId } = place;
    const row = rowPieces(
      { originId, sourceId, updatedAtMs, score: isWithScore ? score : null },
      fieldsBytes,
    );
    pieces.push(row);
    textBytes += row.bytes;
    for (const value of values) if (typeof value === 'string') placeUnits += value.length;
    places.push([values, originId, sourceId, score, updatedAtMs, row.bytes]);
  }
  if (placeUnits > queryPageUnitsMax || (isWhole && textBytes > queryPageUnitsMax)) return pageTooLarge;
  const texts = isWhole || textBytes <= unaskedBytesMax ? joinedTexts(pieces, textBytes) : null;
  // JSON, so that lone surrogates of a value survive; MessagePack text is UTF-8.
  return [total, JSON.stringify(places), texts, JSON.stringify(facets)];
}

function joinedTexts(pieces: readonly RowPieces[], bytes: number): Buffer {
  const texts = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const row of pieces) at = writeRow(row, texts, at);
  return texts;
}

/** @throws PageTooLargeError */
export function decodeAnswer(body: MessageBody): WireAnswer {
  if (body === pageTooLarge) throw new PageTooLargeError();
  const [total, placesText, texts, facetsText] = body as [number, string, Buffer | null, string];
  const places = JSON.parse(placesText) as PackedPlace[];
  let at = 0;
  const rows: WireRow[] = [];
  for (const [values, originId, sourceId, score, updatedAtMs, textBytes] of places) {
    const text = texts?.subarray(at, at + textBytes) ?? null;
    rows.push({ place: { values, originId, sourceId }, score, updatedAtMs, textBytes, text });
    at += textBytes;
  }
  return { total, rows, facets: JSON.parse(facetsText) as FacetGroups[] };
}

/** The fields of rows; null for each row that is not here. */
export function encodeTexts(texts: readonly (Buffer | null)[]): MessageBody {
  return texts;
}

/** In the order asked. */
export function decodeTexts(body: MessageBody): (Buffer | null)[] {
  return body as (Buffer | null)[];
}

export function encodeCounts(counts: readonly FacetGroups[]): MessageBody {
  return JSON.stringify(counts);
}

/** In the order of the needs. */
export function decodeCounts(body: MessageBody): FacetGroups[] {
  return JSON.parse(body as string) as FacetGroups[];
}

/** What a worker answers for an index of which it has no item. */
export const emptyAnswer: ShardAnswer = { total: 0, rows: [], facets: [] };
