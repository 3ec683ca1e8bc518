/**
 * How queries and answers travel between fronts and workers. A row's fields stay JSON text from the worker to the
 * client: the front orders rows by their places and copies the text.
 */
import { getOwn, type JsonObject, setOwn } from '../contract/json.ts';
import type { CheckedQuery, FacetGroups, RowPlace, ShardAnswer } from '../search/types.ts';
import type { ScopedIndex } from '../store/items.ts';
import type { MessageBody } from '../store/messages.ts';
import type { Coverage } from './coverage.ts';

/** Members of a result row that are not fields of the item (specification "Query result"). */
const builtInNames = ['_originId', '_sourceGuid', '_updatedAt', '_score', '_views'] as const;

/** One query of a scatter. */
export interface ScatterQuery extends ScopedIndex {
  readonly query: CheckedQuery;
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

/** A row as the front knows it. */
export interface WireRow {
  readonly place: RowPlace;
  readonly score: number;
  readonly updatedAtMs: number;
  readonly fieldsText: string;
}

/** A `ShardAnswer` whose rows carry their fields as text. */
export interface WireAnswer {
  readonly total: number;
  readonly rows: readonly WireRow[];
  readonly facets: readonly FacetGroups[];
}

type PackedPlace = [
  RowPlace['values'],
  originId: string,
  sourceId: string,
  score: number,
  updatedAtMs: number,
];

/** A worker's reply; without coverage it cannot answer at the moment. */
export interface WorkerReply {
  readonly covers: Coverage;
  readonly answers: readonly WireAnswer[];
}

export function encodeReply(covers: Coverage, answers: readonly MessageBody[]): MessageBody {
  return [[...covers].flat(), answers];
}

/** What a worker says that cannot answer at the moment. */
export const cannotAnswer: MessageBody = null;

/** Null when the worker cannot answer at the moment. */
export function decodeReply(body: MessageBody): WorkerReply | null {
  if (body === cannotAnswer) return null;
  const [flat, answers] = body as [number[], MessageBody[]];
  const covers = new Map<number, number>();
  for (let at = 0; at + 1 < flat.length; at += 2) covers.set(flat[at] ?? -1, flat[at + 1] ?? 0);
  return { covers, answers: answers.map(decodeAnswer) };
}

export function encodeAnswer({ total, rows, facets }: ShardAnswer): MessageBody {
  const places = rows.map<PackedPlace>(({ place, score, updatedAtMs }) => [
    place.values,
    place.originId,
    place.sourceId,
    score,
    updatedAtMs,
  ]);
  return [
    total,
    // JSON, so that lone surrogates of a value survive; MessagePack text is UTF-8.
    JSON.stringify(places),
    rows.map(({ fields }) => fieldsText(fields)),
    JSON.stringify(facets),
  ];
}

function decodeAnswer(body: MessageBody): WireAnswer {
  const [total, placesText, texts, facetsText] = body as [number, string, string[], string];
  const places = JSON.parse(placesText) as PackedPlace[];
  return {
    total,
    rows: places.map(([values, originId, sourceId, score, updatedAtMs], index) => ({
      place: { values, originId, sourceId },
      score,
      updatedAtMs,
      fieldsText: texts[index] ?? '{}',
    })),
    facets: JSON.parse(facetsText) as FacetGroups[],
  };
}

/** An item may have a field that is named like a built-in one; in an answer the built-in one has the name. */
function fieldsText(fields: JsonObject): string {
  if (!builtInNames.some((name) => Object.hasOwn(fields, name))) return JSON.stringify(fields);
  const rest: JsonObject = {};
  for (const name of Object.keys(fields)) {
    if ((builtInNames as readonly string[]).includes(name)) continue;
    setOwn(rest, name, getOwn(fields, name) ?? null);
  }
  return JSON.stringify(rest);
}

/** What a worker answers for an index of which it has no item. */
export function emptyAnswer({ facets }: CheckedQuery): ShardAnswer {
  return { total: 0, rows: [], facets: facets.map(() => ({ groups: [] })) };
}
