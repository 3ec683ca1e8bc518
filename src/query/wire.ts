/**
 * How queries and answers travel between fronts and workers. A row's fields stay JSON text from the worker to the
 * client: the front orders rows by their places and copies the text.
 */
import type { JsonObject } from '../contract/json.ts';
import type { PartialAnswer } from '../search/merge.ts';
import type { FacetNeed } from '../search/merge-facets.ts';
import type { CheckedQuery, FacetGroups, RowPlace, ShardAnswer } from '../search/types.ts';
import type { ScopedIndex } from '../store/items.ts';
import type { MessageBody } from '../store/messages.ts';
import type { Coverage } from './coverage.ts';

/** Members of a result row that are not fields of the item (specification "Query result"). */
const builtInNames = ['_originId', '_sourceGuid', '_updatedAt', '_score', '_views'] as const;

/** One query of a scatter: the query itself, or the second question of its facets. */
export interface ScatterQuery extends ScopedIndex {
  readonly query: CheckedQuery;
  /** Facets to count as `Shard.facetCounts` does, and nothing else; null asks for the answer of the query. */
  readonly counts: readonly FacetNeed[] | null;
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
  /** One for each query of the request: `decodeAnswer` or `decodeCounts` reads it. */
  readonly answers: readonly MessageBody[];
}

/** What a worker says that cannot answer at the moment. */
export const cannotAnswer: MessageBody = null;

export function encodeReply({ covers, answers }: WorkerReply): MessageBody {
  return [[...covers].flat(), answers];
}

/** Null when the worker cannot answer at the moment. */
export function decodeReply(body: MessageBody): WorkerReply | null {
  if (body === cannotAnswer) return null;
  const [flat, answers] = body as [number[], MessageBody[]];
  const covers = new Map<number, number>();
  for (let at = 0; at + 1 < flat.length; at += 2) covers.set(flat[at] ?? -1, flat[at + 1] ?? 0);
  return { covers, answers };
}

/** A row as the front knows it. */
export interface WireRow {
  readonly place: RowPlace;
  readonly score: number;
  readonly updatedAtMs: number;
  readonly fieldsText: string;
}

/** A `ShardAnswer` whose rows carry their fields as text. */
export type WireAnswer = PartialAnswer<WireRow>;

type PackedPlace = [
  RowPlace['values'],
  originId: string,
  sourceId: string,
  score: number,
  updatedAtMs: number,
];

/** @param offset rows that the front would skip anyway */
export function encodeAnswer({ total, rows, facets }: ShardAnswer, offset: number): MessageBody {
  const sent = offset === 0 ? rows : rows.slice(offset);
  const places = sent.map<PackedPlace>(({ place, score, updatedAtMs }) => [
    place.values,
    place.originId,
    place.sourceId,
    score,
    updatedAtMs,
  ]);
  // JSON, so that lone surrogates of a value survive; MessagePack text is UTF-8.
  const [placesText, facetsText] = [JSON.stringify(places), JSON.stringify(facets)];
  return [total, placesText, sent.map(({ fieldsText }) => withoutBuiltIns(fieldsText)), facetsText];
}

export function decodeAnswer(body: MessageBody): WireAnswer {
  const [total, placesText, texts, facetsText] = body as [number, string, string[], string];
  const places = JSON.parse(placesText) as PackedPlace[];
  const rows = places.map<WireRow>(([values, originId, sourceId, score, updatedAtMs], index) => ({
    place: { values, originId, sourceId },
    score,
    updatedAtMs,
    fieldsText: texts[index] ?? '{}',
  }));
  return { total, rows, facets: JSON.parse(facetsText) as FacetGroups[] };
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
