/**
 * How queries and answers travel between fronts and workers. A row is JSON text from the worker to the client: the
 * front orders rows by their places and copies the bytes.
 */
import type { EntityRef } from '../contract/ids.ts';
import { queryPageUnitsMax } from '../contract/limits.ts';
import type { PartialAnswer } from '../search/merge.ts';
import type { FacetNeed } from '../search/merge-facets.ts';
import type { CheckedQuery, FacetGroups, Row, RowPlace, ShardAnswer } from '../search/types.ts';
import type { ScopedIndex } from '../store/items.ts';
import type { MessageBody } from '../store/message-body.ts';
import type { Coverage } from './coverage.ts';
import { facetsOf, resultOfPieces } from './result-text.ts';
import { isScored, type RowPieces, scoredRow, unscoredRow, writeRow } from './row-text.ts';

/** What a worker is asked of one index. */
export type Ask =
  /** `isText`: a worker that has all partitions writes the whole result. */
  | { readonly kind: 'answer'; readonly query: CheckedQuery; readonly isText: boolean }
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
  /** What is asked, from `encodeAsks`. */
  readonly asks: string;
}

/** JSON, so that lone surrogates of a value survive; MessagePack text is UTF-8. */
export function encodeAsks(queries: readonly ScatterQuery[]): string {
  return JSON.stringify(queries);
}

export function decodeAsks(asks: string): ScatterQuery[] {
  return JSON.parse(asks) as ScatterQuery[];
}

/** Needs as text. They are the same list in thousands of requests, which is written once. */
export class NeedsWriter {
  #needs: readonly number[] = [];
  #text = '';

  write(needs: readonly number[]): string {
    if (needs !== this.#needs) {
      this.#needs = needs;
      this.#text = needs.join();
    }
    return this.#text;
  }
}

/** Reads needs. Equal ones that follow one another are one list. */
export class NeedsReader {
  #needs: readonly number[] = [];
  #text = '';

  read(text: string): readonly number[] {
    if (text !== this.#text) {
      this.#text = text;
      this.#needs = text.split(',').map(Number);
    }
    return this.#needs;
  }
}

/** A request as it goes through the streams. */
export function packRequest({ needs, asks }: ScatterRequest, writer: NeedsWriter): MessageBody {
  return [writer.write(needs), asks];
}

export function unpackRequest(body: MessageBody, reader: NeedsReader): ScatterRequest {
  const [needs, asks] = body as [string, string];
  return { needs: reader.read(needs), asks };
}

/** What a worker was when it answered. */
export interface Moment {
  readonly covers: Coverage;
  /** Partition -> number of the last commit that the answers can show. */
  readonly applied: ReadonlyMap<number, number>;
  /** Digest of the configuration that all shards follow; null while one is being built anew. */
  readonly configuration: string | null;
}

/** Answers in the order of the asks, each read by the decoder of what was asked; null: the worker cannot answer now. */
export type Answers = readonly MessageBody[] | null;

/** What a worker says. */
export interface WorkerAnswers {
  readonly moment: Moment;
  readonly answers: Answers;
}

/**
 * What all replies of one moment share, as text; it is made once for them.
 * @param appliedOf number of a partition's last commit that the shards have
 */
export function packMoment(
  covers: Coverage,
  appliedOf: (partition: number) => number,
  configuration: string | null,
): string {
  const flat: number[] = [];
  for (const [partition, epoch] of covers) flat.push(partition, epoch, appliedOf(partition));
  return `${flat.join()} ${configuration ?? ''}`;
}

/** Moments remembered: one of each worker, and a few that it had before. */
const momentsRemembered = 256;

/** Reads moments. Thousands of replies are of the same one, which is read once. */
export class MomentReader {
  readonly #moments = new Map<string, Moment>();

  /** @param text from `packMoment` */
  read(text: string): Moment {
    return this.#moments.get(text) ?? this.#remember(text);
  }

  #remember(text: string): Moment {
    if (this.#moments.size >= momentsRemembered) this.#moments.clear();
    const end = text.indexOf(' ');
    const configuration = text.slice(end + 1);
    const coverage = unpackCoverage(text.slice(0, end));
    const read = { ...coverage, configuration: configuration === '' ? null : configuration };
    this.#moments.set(text, read);
    return read;
  }
}

/** A reply as it goes through the streams. @param moment from `packMoment` */
export function packReply(moment: string, answers: Answers): MessageBody {
  return [moment, answers];
}

/** Null for a reply of another version, which can come while processes are replaced one by one. */
export function unpackReply(body: MessageBody, reader: MomentReader): WorkerAnswers | null {
  if (!Array.isArray(body) || body.length !== 2) return null;
  const [moment, answers] = body as [string, Answers];
  return { moment: reader.read(moment), answers };
}

function unpackCoverage(text: string): Pick<Moment, 'covers' | 'applied'> {
  const flat = text === '' ? [] : text.split(',').map(Number);
  const covers = new Map<number, number>();
  const applied = new Map<number, number>();
  for (let at = 0; at + 2 < flat.length; at += 3) {
    const partition = flat[at] ?? -1;
    covers.set(partition, flat[at + 1] ?? 0);
    applied.set(partition, flat[at + 2] ?? 0);
  }
  return { covers, applied };
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
  const pieces = piecesOf(sent, index);
  const textBytes = bytesOf(pieces);
  const places = sent.map(({ place, score, updatedAtMs }, at): PackedPlace => {
    const { values, originId, sourceId } = place;
    return [values, originId, sourceId, score, updatedAtMs, pieces[at]?.bytes ?? 0];
  });
  if (placeUnitsOf(sent) > queryPageUnitsMax || (isWhole && textBytes > queryPageUnitsMax))
    return pageTooLarge;
  const texts = isWhole || textBytes <= unaskedBytesMax ? joinedTexts(pieces, textBytes) : null;
  // JSON, so that lone surrogates of a value survive; MessagePack text is UTF-8.
  return [total, JSON.stringify(places), texts, JSON.stringify(facets)];
}

/**
 * The whole result, of a worker that has all partitions.
 * @param seal makes the token of the page behind a row
 */
export function encodeResult(
  { total, rows, facets }: ShardAnswer,
  index: string,
  query: CheckedQuery,
  seal: (last: RowPlace) => string,
): MessageBody {
  const page = query.offset > 0 ? rows.slice(query.offset) : rows;
  const pieces = piecesOf(page, index);
  const bytes = bytesOf(pieces);
  if (bytes > queryPageUnitsMax || placeUnitsOf(page) > queryPageUnitsMax) return pageTooLarge;
  const last = page.length === query.pageSize ? page.at(-1) : undefined;
  const nextPageToken = last === undefined ? null : seal(last.place);
  return resultOfPieces(total, pieces, bytes, { facets: facetsOf(query, facets), nextPageToken });
}

/** UTF-16 units of the values by which rows were found. */
function placeUnitsOf(rows: readonly Row[]): number {
  let units = 0;
  for (const { place } of rows) {
    for (const value of place.values) if (typeof value === 'string') units += value.length;
  }
  return units;
}

function piecesOf(rows: readonly Row[], index: string): RowPieces[] {
  const inPieces = isScored(index) ? scoredRow : unscoredRow;
  const pieces: RowPieces[] = [];
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at];
    if (row === undefined) break;
    const { place, score, updatedAtMs, fieldsBytes } = row;
    pieces.push(
      inPieces({ originId: place.originId, sourceId: place.sourceId, updatedAtMs, score, fieldsBytes }),
    );
  }
  return pieces;
}

function bytesOf(rows: readonly RowPieces[]): number {
  let sum = 0;
  for (const { bytes } of rows) sum += bytes;
  return sum;
}

function joinedTexts(rows: readonly RowPieces[], bytes: number): Buffer {
  const texts = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const row of rows) at = writeRow(row, texts, at);
  return texts;
}

export function isTooLarge(body: MessageBody): boolean {
  return body === pageTooLarge;
}

/** The whole result, where it is one; null for what `encodeAnswer` made. */
export function decodeResult(body: MessageBody): Buffer | null {
  if (!(body instanceof Uint8Array)) return null;
  return body instanceof Buffer ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
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
