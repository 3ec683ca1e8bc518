import { createHash } from 'node:crypto';
import type { Json } from '../../contract/json.ts';
import { lookupResultsMax } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { compareCodePoints } from '../../lib/code-points.ts';
import { compileTest, type FilterTest, Reads } from '../filter/evaluate.ts';
import { type KeyTerm, keyTerms } from '../filter/key-terms.ts';
import type { FilterNode, QueryValues } from '../filter/node.ts';
import type { Frame } from '../language/scope.ts';
import type {
  LookupIndex,
  LookupLayout,
  LookupPlan,
  LookupQuery,
  LookupSelection,
  PropertyPath,
} from '../lookup-layout.ts';

/** A matched entity with the value that it is ordered by. */
export interface Ranked {
  readonly originId: string;
  readonly value: Json;
}

/**
 * Sorts numbers before strings before booleans; `desc` reverses this. Other values come last in both directions. Ties are
 * sorted by originId in code-point order (docs/reference/mapping-language.md "Lookups").
 */
export function rankComparer(sort: 'asc' | 'desc'): (a: Ranked, b: Ranked) => number {
  const sign = sort === 'asc' ? 1 : -1;
  return (a, b) => compareRanked(a.value, b.value, sign) || compareCodePoints(a.originId, b.originId);
}

const kinds = ['number', 'string', 'boolean'];

function compareRanked(a: Json, b: Json, sign: number): number {
  const kindA = kinds.indexOf(typeof a);
  const kindB = kinds.indexOf(typeof b);
  if (kindA < 0 || kindB < 0) return (kindA < 0 ? 1 : 0) - (kindB < 0 ? 1 : 0);
  if (kindA !== kindB) return sign * (kindA - kindB);
  if (typeof a === 'string' && typeof b === 'string') return sign * compareCodePoints(a, b);
  return sign * (Number(a) - Number(b));
}

export interface Order {
  /** Paths to the value; the first one with a value is used. */
  readonly paths: readonly PropertyPath[];
  readonly sort: 'asc' | 'desc';
}

export interface LookupParts {
  readonly place: string;
  /** Digest of the definition. */
  readonly digest: string;
  readonly sourceGroup: string | null;
  readonly condition: FilterNode;
  /** The condition as written in the schema, for messages. */
  readonly written: string;
  readonly order: Order | null;
  readonly values: QueryValues;
  readonly top: ((frame: Frame) => number | null) | null;
}

/** Longer ids are hashed, because a match value may be megabytes long. */
const idCharactersMax = 200;
/** How many more matches than requested are collected before they are sorted and cut. */
const rankedBeyond = 2000;

/** One `$lookup` of a schema: its read plan, and the queries that builds make from it. */
export class CompiledLookup {
  readonly plan: LookupPlan;
  readonly #parts: LookupParts;
  readonly #terms: readonly KeyTerm[];
  readonly #test: FilterTest;
  /** Indexes into the plan's `reads`. */
  readonly #orderReads: readonly number[];
  readonly #compare: (a: Ranked, b: Ranked) => number;
  readonly #answeredBy = new WeakMap<LookupLayout, boolean>();
  readonly #positionsByLayout = new WeakMap<LookupLayout, readonly number[]>();

  constructor(parts: LookupParts) {
    const reads = new Reads();
    this.#parts = parts;
    this.#terms = keyTerms(parts.condition);
    this.#test = compileTest(parts.condition, reads);
    this.#orderReads = (parts.order?.paths ?? []).map((path) => reads.add(path));
    this.#compare = rankComparer(parts.order?.sort ?? 'asc');
    this.plan = {
      sourceGroup: parts.sourceGroup,
      indexes: this.#terms.flatMap((term) => term.indexes),
      reads: reads.paths,
    };
  }

  query(frame: Frame): LookupQuery {
    const values = this.#parts.values.values(frame);
    const top = this.#parts.top?.(frame) ?? null;
    return {
      id: queryId(
        this.#parts.digest,
        values.map((value) => valueId(frame, value)),
        top,
      ),
      sourceGroup: this.#parts.sourceGroup,
      keys: [...new Set(this.#terms.flatMap((term) => term.keys(values)))],
      place: this.#parts.place,
      condition: this.#parts.written,
      plan: this.plan,
      isAnsweredBy: (layout) => this.#isAnsweredBy(layout),
      select: (layout, candidates) => {
        const selection = this.#selection(layout, values, top);
        selection.add(candidates);
        return selection.result();
      },
      selection: (layout) => this.#selection(layout, values, top),
    };
  }

  #isAnsweredBy(layout: LookupLayout): boolean {
    const known = this.#answeredBy.get(layout);
    if (known !== undefined) return known;
    const indexes = new Set(layout.indexes.map(indexText));
    const paths = new Set(layout.projection.map((path) => JSON.stringify(path)));
    const answers =
      this.plan.indexes.every((index) => indexes.has(indexText(index))) &&
      this.plan.reads.every((path) => paths.has(JSON.stringify(path)));
    this.#answeredBy.set(layout, answers);
    return answers;
  }

  #selection(layout: LookupLayout, values: readonly Json[], top: number | null): LookupSelection {
    const positions = this.#positionsIn(layout);
    const match = { row: noValues, positions, values, sets: new Map(), elements: [] };
    const matched = new Set<string>();
    const count = Math.min(top ?? lookupResultsMax, lookupResultsMax);
    /** The first matches in sort order, and up to `rankedBeyond` more. */
    let ranked: Ranked[] = [];
    const keepFirst = () => {
      ranked = ranked.sort(this.#compare).slice(0, count);
    };
    return {
      add: (candidates) => {
        for (const { originId, values: row } of candidates) {
          if (matched.has(originId)) continue;
          match.row = row;
          if (!this.#test(match)) continue;
          matched.add(originId);
          ranked.push({ originId, value: this.#orderValue(row, positions) });
          if (ranked.length >= count + rankedBeyond) keepFirst();
        }
      },
      result: () => {
        keepFirst();
        return {
          originIds: ranked.map(({ originId }) => originId),
          matched: Math.min(matched.size, lookupResultsMax),
          cut: matched.size > lookupResultsMax && (top === null || top > lookupResultsMax),
        };
      },
    };
  }

  #orderValue(row: readonly Json[], positions: readonly number[]): Json {
    for (const read of this.#orderReads) {
      const value = row[positions[read] ?? -1] ?? null;
      if (value !== null) return value;
    }
    return null;
  }

  /** Positions of the plan's `reads` in the layout's projection. */
  #positionsIn(layout: LookupLayout): readonly number[] {
    const known = this.#positionsByLayout.get(layout);
    if (known !== undefined) return known;
    const projected = new Map(layout.projection.map((path, index) => [JSON.stringify(path), index]));
    const positions = this.plan.reads.map((path) => {
      const place = projected.get(JSON.stringify(path));
      assert(place !== undefined, 'a layout has what the plans read that it answers');
      return place;
    });
    this.#positionsByLayout.set(layout, positions);
    return positions;
  }
}

function indexText({ type, kind, path }: LookupIndex): string {
  return JSON.stringify([type, kind, path]);
}

const noValues: readonly Json[] = [];

/** The JSON text of a value; large values are serialized in steps. */
function valueId(frame: Frame, value: Json): string {
  const isLarge = frame.build.isLarge && typeof value === 'object' && value !== null;
  return isLarge ? (frame.build.text(value) ?? '') : JSON.stringify(value);
}

function queryId(digest: string, values: readonly string[], top: number | null): string {
  const text = `[[${values.join(',')}],${top}]`;
  if (text.length <= idCharactersMax) return `${digest}:${text}`;
  return `${digest}#${createHash('sha256').update(text).digest('hex')}`;
}
