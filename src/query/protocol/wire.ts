/**
 * How queries and answers travel between fronts and workers. A row is JSON text from the worker to the client: the
 * front orders rows by their places and copies the bytes.
 */
import type { EntityRef } from '../../contract/ids.ts';
import { queryPageUnitsMax } from '../../contract/limits.ts';
import type { CheckedQuery } from '../../search/checked-query.ts';
import type { FacetNeed } from '../../search/facets/merge.ts';
import type { PartialAnswer } from '../../search/merge.ts';
import { chain, type Maybe, pace, repeat } from '../../search/pace.ts';
import type { FacetGroups, Row, RowPlace, ShardAnswer } from '../../search/shard-answer.ts';
import type { ScopedIndex } from '../../store/derived/items.ts';
import type { MessageBody } from '../../store/streams/message-body.ts';
import type { Coverage } from '../front/coverage.ts';
import { facetsTextOf, groupsTexts, Room } from '../worker/facets-text.ts';
import { facetsOf, resultOfPieces } from '../worker/result-text.ts';
import { isScored, type RowPieces, scoredRow, unscoredRow, writeRow } from '../worker/row-text.ts';

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

/** A query that asks for more than it may: its message is for who sent it. */
export class RefusedQueryError extends Error {
  override readonly name = 'RefusedQueryError';
}

const refused = false;

/** Why a query beside a refused one has no answer. */
export const notRun = '';

/** In place of any answer. @param why in words for who sent the query */
export function encodeRefusal(why: string): MessageBody {
  return [refused, why];
}

/** Why a worker refused to answer; null for an answer. */
export function refusalOf(body: MessageBody): string | null {
  if (!Array.isArray(body) || body[0] !== refused) return null;
  const [, why] = body as [false, string];
  return why;
}

/** A page of large items, or one sorted by large values: more than a process should hold for one query. */
export const pageTooLarge = `The page has more than ${queryPageUnitsMax} bytes: ask for a smaller pageSize, or sort by shorter values`;
/** Facets of large values: they count towards the page. */
export const facetsTooLarge = `The facets have, with the page, more than ${queryPageUnitsMax} bytes: ask for fewer of them, for a smaller size, or on fields with shorter values`;

/** Several workers send many rows that no page will show; their texts are fetched when they are long. */
const unaskedBytesMax = 1024 * 1024;

/** How an answer is put into bytes. */
export interface WriteTerms {
  /** Name of the index that was asked. */
  readonly index: string;
  readonly query: CheckedQuery;
  /** No other worker has rows: the page is known, and rows before it need not be sent. */
  readonly isWhole: boolean;
}

/** Rows of an answer or its refusal, in steps. */
export function encodeAnswer(
  { total, rows, facets }: ShardAnswer,
  { index, query, isWhole }: WriteTerms,
): Maybe<MessageBody> {
  const sent = isWhole && query.offset > 0 ? rows.slice(query.offset) : rows;
  const room = new Room();
  const bytesMax = isWhole ? queryPageUnitsMax : Number.POSITIVE_INFINITY;
  return chain(piecesOf(sent, index, bytesMax), (written) => {
    if (written === null) return encodeRefusal(pageTooLarge);
    if (isWhole) room.take(written.bytes);
    const texts = groupsTexts(facets, (at) => query.facets[at]?.size ?? 0, room);
    return chain(texts, (facetsText) => {
      if (facetsText === null) return encodeRefusal(facetsTooLarge);
      return answerOfPieces(total, sent, written, { isWhole, facetsText });
    });
  });
}

function answerOfPieces(
  total: number,
  rows: readonly Row[],
  { pieces, bytes }: WrittenRows,
  { isWhole, facetsText }: { readonly isWhole: boolean; readonly facetsText: string },
): MessageBody {
  const places = rows.map(({ place, score, updatedAtMs }, at): PackedPlace => {
    const { values, originId, sourceId } = place;
    return [values, originId, sourceId, score, updatedAtMs, pieces[at]?.bytes ?? 0];
  });
  const texts = isWhole || bytes <= unaskedBytesMax ? joinedTexts(pieces, bytes) : null;
  // JSON, so that lone surrogates of a value survive; MessagePack text is UTF-8.
  return [total, JSON.stringify(places), texts, facetsText];
}

/**
 * The whole result, of a worker that has all partitions, or its refusal, in steps.
 * @param seal makes the token of the page behind a row
 */
export function encodeResult(
  { total, rows, facets }: ShardAnswer,
  { index, query }: WriteTerms,
  seal: (last: RowPlace) => string,
): Maybe<MessageBody> {
  const page = query.offset > 0 ? rows.slice(query.offset) : rows;
  return chain(piecesOf(page, index, queryPageUnitsMax), (written) => {
    if (written === null) return encodeRefusal(pageTooLarge);
    return chain(resultFacets(query, facets, written.bytes), (facetsText) => {
      if (facetsText === null) return encodeRefusal(facetsTooLarge);
      const last = page.length === query.pageSize ? page.at(-1) : undefined;
      const nextPageToken = last === undefined ? null : seal(last.place);
      return resultOfPieces(total, written.pieces, written.bytes, { facetsText, nextPageToken });
    });
  });
}

/** @param bytes of the page @returns null when there is no room for the facets beside it */
function resultFacets(
  query: CheckedQuery,
  facets: readonly FacetGroups[],
  bytes: number,
): Maybe<string | null> {
  if (query.facets.length === 0) return '[]';
  const room = new Room();
  room.take(bytes);
  return facetsTextOf(facetsOf(query, facets), room);
}

/** What a row takes to be written, in units of the pace; a byte of its text takes a tenth of one. */
const unitsPerRow = 100;
const bytesPerUnit = 10;

interface WrittenRows {
  readonly pieces: RowPieces[];
  bytes: number;
  /** UTF-16 units of the values by which they were found. */
  placeUnits: number;
}

/** @returns null when the rows, or the values by which they were found, are more than may be */
function piecesOf(rows: readonly Row[], index: string, bytesMax: number): Maybe<WrittenRows | null> {
  const inPieces = isScored(index) ? scoredRow : unscoredRow;
  const written: WrittenRows = { pieces: [], bytes: 0, placeUnits: 0 };
  const fits = () => written.bytes <= bytesMax && written.placeUnits <= queryPageUnitsMax;
  const all = repeat(() => {
    writeSome(rows, inPieces, written);
    return written.pieces.length < rows.length && fits();
  });
  return chain(all, () => (fits() ? written : null));
}

function writeSome(rows: readonly Row[], inPieces: typeof scoredRow, written: WrittenRows): void {
  const { pieces } = written;
  for (let at = pieces.length; at < rows.length; at += 1) {
    const row = rows[at];
    if (row === undefined || pace.units >= pace.unitsPerLook) break;
    const { place, score, updatedAtMs, fieldsBytes } = row;
    const made = inPieces({
      originId: place.originId,
      sourceId: place.sourceId,
      updatedAtMs,
      score,
      fieldsBytes,
    });
    pieces.push(made);
    written.bytes += made.bytes;
    written.placeUnits += placeUnitsOf(row);
    pace.units += unitsPerRow + Math.trunc(made.bytes / bytesPerUnit);
  }
}

/** UTF-16 units of the values by which a row was found. */
function placeUnitsOf({ place: { values } }: Row): number {
  let units = 0;
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at];
    if (typeof value === 'string') units += value.length;
  }
  return units;
}

function joinedTexts(rows: readonly RowPieces[], bytes: number): Buffer {
  const texts = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const row of rows) at = writeRow(row, texts, at);
  return texts;
}

/** The whole result, where it is one; null for what `encodeAnswer` made. */
export function decodeResult(body: MessageBody): Buffer | null {
  if (!(body instanceof Uint8Array)) return null;
  return body instanceof Buffer ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

/** @throws RefusedQueryError */
export function decodeAnswer(body: MessageBody): WireAnswer {
  throwRefusal(body);
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

/** In steps. */
export function encodeCounts(counts: readonly FacetGroups[]): Maybe<MessageBody> {
  const all = () => Number.POSITIVE_INFINITY;
  return chain(groupsTexts(counts, all, new Room()), (text) => text ?? encodeRefusal(facetsTooLarge));
}

/** In the order of the needs. @throws RefusedQueryError */
export function decodeCounts(body: MessageBody): FacetGroups[] {
  throwRefusal(body);
  return JSON.parse(body as string) as FacetGroups[];
}

function throwRefusal(body: MessageBody): void {
  const why = refusalOf(body);
  if (why !== null) throw new RefusedQueryError(why);
}

/** Length of the facets in what `encodeAnswer` or `encodeCounts` made; 0 for a refusal. */
export function facetsLength(body: MessageBody): number {
  if (typeof body === 'string') return body.length;
  const facets = Array.isArray(body) ? body[3] : null;
  return typeof facets === 'string' ? facets.length : 0;
}

/** What a worker answers for an index of which it has no item. */
export const emptyAnswer: ShardAnswer = { total: 0, rows: [], facets: [] };
