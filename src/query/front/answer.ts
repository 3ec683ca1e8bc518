/** From checked queries to whole answers: asks the workers, merges what they say, and asks again what is left open. */
import { queryPageUnitsMax } from '../../contract/limits.ts';
import type { CheckedQuery } from '../../search/checked-query.ts';
import type { FacetNeed } from '../../search/facets/merge.ts';
import { type FacetCounts, type MergedAnswer, mergeAnswers } from '../../search/merge.ts';
import type { ScopedIndex } from '../../store/derived/items.ts';
import type { MessageBody } from '../../store/streams/message-body.ts';
import {
  type Ask,
  decodeAnswer,
  decodeCounts,
  decodeResult,
  decodeTexts,
  encodeAsks,
  facetsLength,
  facetsTooLarge,
  pageTooLarge,
  RefusedQueryError,
  type WireRow,
} from '../protocol/wire.ts';
import { UnavailableError } from '../query-service.ts';
import { isScored, rowText, scoredRow, unscoredRow } from '../worker/row-text.ts';
import type { GatheredReply, Scatter } from './scatter.ts';

export interface AnswerableQuery {
  readonly index: ScopedIndex;
  readonly query: CheckedQuery;
  /** Nothing is added to its rows: whoever has them all may write the result. */
  readonly isText: boolean;
}

export interface AnswerTerms {
  /** Commit number that each partition must have applied. */
  readonly needs: readonly number[];
  /** On the clock of `performance.now()`. */
  readonly deadlineMs: number;
  readonly hearing: Hearing;
}

export interface Hearing {
  /**
   * Resolves once this front has heard of commits: what it shows next must not be older than what it has shown.
   * @param applied by partition @throws UnavailableError when that takes too long
   */
  heard(applied: ReadonlyMap<number, number>, deadlineMs: number): Promise<void>;
}

export interface AnswerRow extends WireRow {
  readonly text: Buffer;
}

/** Rows of several workers in order, or those of one that was not asked for a text. */
export interface RowsAnswer extends Omit<MergedAnswer<AnswerRow>, 'needs'> {
  readonly kind: 'rows';
  readonly configuration: string | null;
}

export type WholeAnswer =
  | RowsAnswer
  /** The result as its worker wrote it. */
  | { readonly kind: 'text'; readonly text: Buffer; readonly configuration: string | null }
  /** It would be more than may be, or take longer. */
  | { readonly kind: 'refused'; readonly why: string };

/**
 * Answers in the order of the queries. At once where nothing is to be waited for, which is so of nearly every query.
 * @param replies to `asksOf` these queries. @throws UnavailableError, at once or later
 */
export function answersIn(
  replies: readonly GatheredReply[],
  scatter: Scatter,
  queries: readonly AnswerableQuery[],
  terms: AnswerTerms,
): WholeAnswer[] | Promise<WholeAnswer[]> {
  const news = newsIn(replies, terms);
  if (news.length > 0) return heard(news, terms).then(() => settled(replies, scatter, queries, terms));
  return settled(replies, scatter, queries, terms);
}

/** As `answersIn`, of replies whose news this front has heard. */
function settled(
  replies: readonly GatheredReply[],
  scatter: Scatter,
  queries: readonly AnswerableQuery[],
  terms: AnswerTerms,
): WholeAnswer[] | Promise<WholeAnswer[]> {
  const answers = queries.map((one, at) => answerOf(scatter, one, answersTo(replies, at), terms));
  return areThere(answers) ? answers : Promise.all(answers);
}

/** What is there already needs no further turns. */
function areThere<T>(answers: readonly (T | Promise<T>)[]): answers is T[] {
  return answers.every((answer) => !(answer instanceof Promise));
}

/** What workers are asked to answer queries. */
export function asksOf(queries: readonly AnswerableQuery[]): string {
  return encodeAsks(
    queries.map(({ index, query, isText }) => ({ ...index, ask: { kind: 'answer', query, isText } })),
  );
}

/** A worker's answer to one query. */
interface WorkerAnswer {
  readonly body: MessageBody;
  readonly configuration: string | null;
}

function answersTo(replies: readonly GatheredReply[], at: number): WorkerAnswer[] {
  return replies.map(({ answers, configuration }) => ({ body: answers[at] ?? null, configuration }));
}

/** @throws UnavailableError, at once or later */
function answerOf(
  scatter: Scatter,
  one: AnswerableQuery,
  ofWorkers: readonly WorkerAnswer[],
  terms: AnswerTerms,
): WholeAnswer | Promise<WholeAnswer> {
  const [only] = ofWorkers;
  const text = ofWorkers.length > 1 || only === undefined ? null : decodeResult(only.body);
  if (text !== null && only !== undefined) return { kind: 'text', text, configuration: only.configuration };
  return answerOrRefusal(mergedAnswer(scatter, one, ofWorkers, terms));
}

async function answerOrRefusal(answer: Promise<WholeAnswer>): Promise<WholeAnswer> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RefusedQueryError) return { kind: 'refused', why: error.message };
    throw error;
  }
}

/** @throws RefusedQueryError, UnavailableError */
async function mergedAnswer(
  scatter: Scatter,
  one: AnswerableQuery,
  ofWorkers: readonly WorkerAnswer[],
  terms: AnswerTerms,
): Promise<WholeAnswer> {
  const { index, query } = one;
  boundFacets(ofWorkers.map(({ body }) => body));
  const answers = ofWorkers.map(({ body }) => decodeAnswer(body));
  // A worker that has all partitions leaves out the rows before the page.
  const mergedQuery = answers.length === 1 ? { ...query, offset: 0 } : query;
  let merged = mergeAnswers(mergedQuery, answers);
  if (merged.needs.length > 0) {
    const counts = await countFacets(scatter, index, query, merged.needs, terms);
    merged = mergeAnswers(mergedQuery, answers, counts);
  }
  const { total, rows, facets } = merged;
  const bytes = rows.reduce((sum, { textBytes }) => sum + textBytes, 0);
  if (bytes > queryPageUnitsMax) throw new RefusedQueryError(pageTooLarge);
  if (bytes + facetUnits(facets) > queryPageUnitsMax) throw new RefusedQueryError(facetsTooLarge);
  const whole = rows.every(hasText) ? rows : await withTexts(scatter, index, rows, terms);
  if (whole !== null) {
    return { kind: 'rows', total, rows: whole, facets, configuration: commonConfiguration(ofWorkers) };
  }
  // An item of the page went away in between: the page is another one now.
  if (performance.now() > terms.deadlineMs)
    throw new UnavailableError('items change faster than they are read');
  const request = { needs: terms.needs, asks: asksOf([one]) };
  const replies = await scatter.gather(request, terms.deadlineMs);
  const [again] = await answersIn(replies, scatter, [one], terms);
  if (again === undefined) throw new TypeError('a query has no answer');
  return again;
}

/** Before they are read. @throws RefusedQueryError when the facets of all workers are more than one front should hold */
function boundFacets(bodies: readonly MessageBody[]): void {
  const length = bodies.reduce<number>((sum, body) => sum + facetsLength(body), 0);
  if (length > queryPageUnitsMax) throw new RefusedQueryError(facetsTooLarge);
}

/** UTF-16 units of the values. */
function facetUnits(facets: MergedAnswer<AnswerRow>['facets']): number {
  let units = 0;
  for (const { groups } of facets) {
    for (const { value } of groups) if (typeof value === 'string') units += value.length;
  }
  return units;
}

function commonConfiguration([first, ...others]: readonly WorkerAnswer[]): string | null {
  const configuration = first?.configuration ?? null;
  return others.every((other) => other.configuration === configuration) ? configuration : null;
}

function hasText(row: WireRow): row is AnswerRow {
  return row.text !== null;
}

async function countFacets(
  scatter: Scatter,
  index: ScopedIndex,
  query: CheckedQuery,
  facets: readonly FacetNeed[],
  terms: AnswerTerms,
): Promise<FacetCounts> {
  const ask: Ask = { kind: 'counts', query, facets };
  const replies = await gather(scatter, encodeAsks([{ ...index, ask }]), terms);
  boundFacets(replies.map(({ answers: [body = null] }) => body));
  const ofWorkers = replies.map(({ answers: [body = null] }) => decodeCounts(body));
  return new Map(
    facets.map(({ facetIndex }, at) => [facetIndex, ofWorkers.map((groups) => groups[at] ?? { groups: [] })]),
  );
}

/** Null when one of the rows is nowhere any more. */
async function withTexts(
  scatter: Scatter,
  index: ScopedIndex,
  rows: readonly WireRow[],
  terms: AnswerTerms,
): Promise<AnswerRow[] | null> {
  const ask: Ask = {
    kind: 'texts',
    rows: rows.map(({ place: { sourceId, originId } }) => ({ sourceId, originId })),
  };
  const replies = await gather(scatter, encodeAsks([{ ...index, ask }]), terms);
  const ofWorkers = replies.map(({ answers: [body = null] }) => decodeTexts(body));
  const inPieces = isScored(index.index) ? scoredRow : unscoredRow;
  const whole: AnswerRow[] = [];
  for (const [at, row] of rows.entries()) {
    const fieldsBytes = ofWorkers.find((texts) => texts[at] !== null)?.[at] ?? null;
    if (fieldsBytes === null) return null;
    const { place, updatedAtMs, score } = row;
    whole.push({ ...row, text: rowText(inPieces({ ...place, updatedAtMs, score, fieldsBytes })) });
  }
  return whole;
}

/** What each worker of a complete cover says, in the order of the asks. */
async function gather(scatter: Scatter, asks: string, terms: AnswerTerms): Promise<GatheredReply[]> {
  const replies = await scatter.gather({ needs: terms.needs, asks }, terms.deadlineMs);
  await heard(newsIn(replies, terms), terms);
  return replies;
}

/** Replies that can show commits which this front had not heard of when it asked. */
function newsIn(replies: readonly GatheredReply[], { needs }: AnswerTerms): GatheredReply[] {
  return replies.filter(({ applied }) => isNewer(applied, needs));
}

async function heard(news: readonly GatheredReply[], { deadlineMs, hearing }: AnswerTerms): Promise<void> {
  for (const { applied } of news) await hearing.heard(applied, deadlineMs);
}

function isNewer(applied: ReadonlyMap<number, number>, needs: readonly number[]): boolean {
  for (const [partition, commits] of applied) if (commits > (needs[partition] ?? 0)) return true;
  return false;
}
