/**
 * How queries and answers travel between fronts and workers. A row's fields stay JSON text from the worker to the
 * client: the front orders rows by their places and copies the text.
 */
import type { EntityRef } from '../contract/ids.ts';
import type { JsonObject } from '../contract/json.ts';
import { queryPageUnitsMax } from '../contract/limits.ts';
import type { PartialAnswer } from '../search/merge.ts';
import type { FacetNeed } from '../search/merge-facets.ts';
import type { CheckedQuery, FacetGroups, RowPlace, ShardAnswer } from '../search/types.ts';
import type { ScopedIndex } from '../store/items.ts';
import type { MessageBody } from '../store/messages.ts';
import type { Coverage } from './coverage.ts';

/** Members of a result row that are not fields of the item (specification "Query result"). */
const builtInNames = ['_originId', '_sourceGuid', '_updatedAt', '_score', '_views'] as const;

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
  /** One for each query of the request, read by the decoder of what was asked. */
  readonly answers: readonly MessageBody[];
  /** Digest of the configuration that all shards follow; null while one is being built anew. */
  readonly configuration: string | null;
}

/** What a worker says that cannot answer at the moment. */
export const cannotAnswer: MessageBody = null;

export function encodeReply({ covers, answers, configuration }: WorkerReply): MessageBody {
  return [[...covers].flat(), answers, configuration];
}

/** Null when the worker cannot answer at the moment. */
export function decodeReply(body: MessageBody): WorkerReply | null {
  if (body === cannotAnswer) return null;
  const [flat, answers, configuration] = body as [number[], MessageBody[], string | null];
  const covers = new Map<number, number>();
  for (let at = 0; at + 1 < flat.length; at += 2) covers.set(flat[at] ?? -1, flat[at + 1] ?? 0);
  return { covers, answers, configuration };
}

/** A row as the front knows it. */
export interface WireRow {
  readonly place: RowPlace;
  readonly score: number;
  readonly updatedAtMs: number;
  readonly fieldsLength: number;
  /** Null when the answer's texts were too long to be sent unasked. */
  readonly fieldsText: string | null;
}

export type WireAnswer = PartialAnswer<WireRow>;

type PackedPlace = [
  values: RowPlace['values'],
  originId: string,
  sourceId: string,
  score: number,
  updatedAtMs: number,
  fieldsLength: number,
];

/** A page of large items, or one sorted by large values: more than a process should hold for one query. */
export class PageTooLargeError extends Error {
  override readonly name = 'PageTooLargeError';
}

/** Several workers send many rows that no page will show; their texts are fetched when they are long. */
const unaskedUnitsMax = 1024 * 1024;

const pageTooLarge: MessageBody = null;

/**
 * @param isWhole no other worker has rows: the page is known, and rows before it need not be sent
 */
export function encodeAnswer(
  { total, rows, facets }: ShardAnswer,
  offset: number,
  isWhole: boolean,
): MessageBody {
  const sent = isWhole && offset > 0 ? rows.slice(offset) : rows;
  let [placeUnits, textUnits] = [0, 0];
  const texts: string[] = [];
  const places = sent.map<PackedPlace>(({ place, score, updatedAtMs, fieldsText }) => {
    const text = withoutBuiltIns(fieldsText);
    texts.push(text);
    textUnits += text.length;
    for (const value of place.values) if (typeof value === 'string') placeUnits += value.length;
    return [place.values, place.originId, place.sourceId, score, updatedAtMs, text.length];
  });
  if (placeUnits > queryPageUnitsMax || (isWhole && textUnits > queryPageUnitsMax)) return pageTooLarge;
  // JSON, so that lone surrogates of a value survive; MessagePack text is UTF-8.
  const placesText = JSON.stringify(places);
  return [total, placesText, isWhole || textUnits <= unaskedUnitsMax ? texts : null, JSON.stringify(facets)];
}

/** @throws PageTooLargeError */
export function decodeAnswer(body: MessageBody): WireAnswer {
  if (body === pageTooLarge) throw new PageTooLargeError();
  const [total, placesText, texts, facetsText] = body as [number, string, string[] | null, string];
  const places = JSON.parse(placesText) as PackedPlace[];
  const rows = places.map<WireRow>(([values, originId, sourceId, score, updatedAtMs, fieldsLength], at) => ({
    place: { values, originId, sourceId },
    score,
    updatedAtMs,
    fieldsLength,
    fieldsText: texts?.[at] ?? null,
  }));
  return { total, rows, facets: JSON.parse(facetsText) as FacetGroups[] };
}

/** Null for each row that is not here. */
export function encodeTexts(texts: readonly (string | null)[]): MessageBody {
  return texts.map((text) => text && withoutBuiltIns(text));
}

/** In the order asked. */
export function decodeTexts(body: MessageBody): (string | null)[] {
  return body as (string | null)[];
}

export function encodeCounts(counts: readonly FacetGroups[]): MessageBody {
  return JSON.stringify(counts);
}

/** In the order of the needs. */
export function decodeCounts(body: MessageBody): FacetGroups[] {
  return JSON.parse(body as string) as FacetGroups[];
}

/** An item may have a field that is named like a built-in one; in an answer the built-in one has the name. */
function withoutBuiltIns(fieldsText: string): string {
  if (!builtInNames.some((name) => fieldsText.includes(`"${name}":`))) return fieldsText;
  const fields = JSON.parse(fieldsText) as JsonObject;
  for (const name of builtInNames) delete fields[name];
  return JSON.stringify(fields);
}

/** What a worker answers for an index of which it has no item. */
export const emptyAnswer: ShardAnswer = { total: 0, rows: [], facets: [] };
