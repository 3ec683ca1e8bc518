/**
 * The interface between lookups and the store: the reads that a `$lookup` can make, the indexes that the store keeps for a
 * source, the entries of an entity in them, and queries that select among entries.
 */
import { createHash } from 'node:crypto';
import { type StoredEntity, stampText } from '../contract/entity.ts';
import { formatEntityId } from '../contract/ids.ts';
import type { Json } from '../contract/json.ts';
import { lookupKeyCharactersMax, lookupValuesPerIndexMax } from '../contract/limits.ts';
import { runSync, type Steps, workBudget } from '../lib/cooperative-yield.ts';
import { isEntityField } from './build/entity-value.ts';
import { member, scalarText } from './values.ts';

/** A path into an entity: `['properties', 'tags']`, `['type']`. */
export type PropertyPath = readonly string[];

/** A property index for lookups: the entities of `type` by each scalar value at `path`. */
export interface LookupIndex {
  /** Entity type, or `*` for all. */
  readonly type: string;
  /**
   * `value`: one key for each scalar at `path`, with arrays on the path and at its end spread; `text`: one key for all entities
   * with a string at `path`, for substring searches; `all`: one key for all entities of the type (the path is empty).
   */
  readonly kind: 'value' | 'text' | 'all';
  readonly path: PropertyPath;
}

/** The reads that a `$lookup` of a schema can make, known at compile time. */
export interface LookupPlan {
  /** Alias of its source group; null for the group of the entity being built. */
  readonly sourceGroup: string | null;
  readonly indexes: readonly LookupIndex[];
  /** Paths in its condition and its order. */
  readonly reads: readonly PropertyPath[];
}

/** Separates the parts of a key. A collision of two keys would only make a lookup read more than necessary. */
const separator = '\u001f';

/** The key in a `value` index of entities with the scalar `text`. */
export function valueKey({ type, path }: LookupIndex, text: string): string {
  return bounded(`v${type}${separator}${path.join('.')}${separator}${text}`);
}

/** The key of entities with more values than `lookupValuesPerIndexMax`, which may have any value. */
export function overflowKey({ type, path }: LookupIndex): string {
  return bounded(`o${type}${separator}${path.join('.')}`);
}

/** The only key of a `text` or `all` index. */
export function wholeKey({ kind, type, path }: LookupIndex): string {
  return bounded(`${kind === 'text' ? 't' : 'a'}${type}${separator}${path.join('.')}`);
}

function bounded(key: string): string {
  if (key.length <= lookupKeyCharactersMax) return key;
  return `#${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
}

/**
 * The paths that a name in `sourceEntityProperty` or `orderBy.property` may mean, in order of preference: a dotted path in
 * `properties`, then the entity's own field of that name, such as `originParentId`. A name with the prefix `properties.` or
 * `p.` only means a path in `properties`.
 */
export function propertyPaths(name: string): readonly PropertyPath[] {
  const [first = '', ...rest] = name.split('.');
  if ((first === 'properties' || first === 'p') && rest.length > 0) return [['properties', ...rest]];
  const inProperties = ['properties', first, ...rest];
  return rest.length === 0 && isEntityField(first) ? [inProperties, [first]] : [inProperties];
}

/** The indexes of one source: the union of the indexes that all plans over it need. */
export interface LookupLayout {
  /**
   * Digest of the layout. It is short, because it is in many keys. Authors who construct a collision can only break lookups of
   * their own tenant.
   */
  readonly id: string;
  readonly indexes: readonly LookupIndex[];
  /** Paths whose values are in every index entry, so that a lookup only reads the index. */
  readonly projection: readonly PropertyPath[];
}

/** Increase it when equal layouts give other keys or values than before, so that stored indexes are rebuilt. */
const layoutVersion = 1;

/** The layout of a source for the plans that read it. The order of the plans does not matter. */
export function layoutOf(plans: Iterable<LookupPlan>): LookupLayout {
  const indexes = new Map<string, LookupIndex>();
  const projection = new Map<string, PropertyPath>();
  for (const plan of plans) {
    for (const { type, kind, path } of plan.indexes) {
      indexes.set(JSON.stringify([type, kind, path]), { type, kind, path });
    }
    for (const path of plan.reads) projection.set(JSON.stringify(path), path);
  }
  const sorted = { indexes: inOrder(indexes), projection: inOrder(projection) };
  const digest = createHash('sha256')
    .update(JSON.stringify([layoutVersion, sorted]))
    .digest('hex');
  return { id: digest.slice(0, 16), ...sorted };
}

function inOrder<T>(things: ReadonlyMap<string, T>): T[] {
  return [...things].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, thing]) => thing);
}

/** Approximate cost of visiting a value, in units of the work budget. */
const unitsPerValue = 10;

/** The index keys of an entity, without duplicates. The keys of a query (`LookupQuery.keys`) have the same format. */
export function entriesOf(layout: LookupLayout, entity: StoredEntity): string[] {
  return runSync(entrySteps(layout, entity));
}

/** As `entriesOf`, in steps, for a large entity. */
export function* entrySteps(layout: LookupLayout, entity: StoredEntity): Steps<string[]> {
  const keys = new Set<string>();
  for (const index of layout.indexes) {
    if (index.type === '*' || index.type === entity.type) yield* addKeys(index, entity, keys);
  }
  return [...keys];
}

function* addKeys(index: LookupIndex, entity: StoredEntity, keys: Set<string>): Steps<void> {
  if (index.kind === 'all') {
    keys.add(wholeKey(index));
    return;
  }
  const [field = '', ...steps] = index.path;
  const start = fieldValue(entity, field);
  if (index.kind === 'text') {
    if (yield* eachScalar(start, steps, (value) => typeof value === 'string')) keys.add(wholeKey(index));
    return;
  }
  const texts = new Set<string>();
  const overflowed = yield* eachScalar(start, steps, (value) => {
    texts.add(scalarText(value) ?? '');
    return texts.size > lookupValuesPerIndexMax;
  });
  if (overflowed) keys.add(overflowKey(index));
  else for (const text of texts) keys.add(valueKey(index, text));
}

type VisitScalar = (value: string | number | boolean) => boolean;

/** Visits the scalars at a path, through all arrays on it and at its end. @returns true if `visit` stopped it */
function* eachScalar(value: Json, steps: readonly string[], visit: VisitScalar): Steps<boolean> {
  const walk = new ScalarWalk(value, steps, visit);
  for (;;) {
    const isStopped = walk.resume();
    if (isStopped !== null) return isStopped;
    yield;
  }
}

/** Iterates over the scalars at a path, in a plain loop, because loops in generators are slow. */
class ScalarWalk {
  /** The stack of arrays, each with its index in the path. */
  readonly #open: { readonly items: readonly Json[]; at: number; readonly from: number }[];

  constructor(
    value: Json,
    private readonly steps: readonly string[],
    private readonly visit: VisitScalar,
  ) {
    this.#open = [{ items: [value], at: 0, from: 0 }];
  }

  /** @returns whether `visit` stopped it; null if it pauses */
  resume(): boolean | null {
    for (let last = this.#open.at(-1); last !== undefined; last = this.#open.at(-1)) {
      if (last.at === last.items.length) {
        this.#open.pop();
        continue;
      }
      const item = last.items[last.at] ?? null;
      last.at += 1;
      if (this.#follow(item, last.from)) return true;
      workBudget.units += unitsPerValue;
      if (workBudget.isOver()) return null;
    }
    return false;
  }

  /** Follows the path to its end, or to the next array. */
  #follow(value: Json, from: number): boolean {
    let at = from;
    for (let met = value; ; at += 1) {
      if (Array.isArray(met)) {
        this.#open.push({ items: met, at: 0, from: at });
        return false;
      }
      const step = this.steps[at];
      if (step === undefined) return typeof met !== 'object' && this.visit(met);
      met = member(met, step);
    }
  }
}

/** The values of an entity for its index entries, in the order of the layout's `projection`. */
export function project(layout: LookupLayout, entity: StoredEntity): Json[] {
  return layout.projection.map(([field = '', ...steps]) => steps.reduce(member, fieldValue(entity, field)));
}

/** A field of an entity by its name in paths. */
function fieldValue(entity: StoredEntity, field: string): Json {
  switch (field) {
    case 'id':
      return formatEntityId(entity);
    case 'originId':
      return entity.originId;
    case 'originParentId':
      return entity.originParentId;
    case 'type':
      return entity.type;
    case 'url':
      return entity.url;
    case 'redirects':
      return [...entity.redirects];
    case 'properties':
      return entity.properties;
    case 'updatedAt':
      return stampText(entity.stamp);
    default:
      return null;
  }
}

/** An index entry from the store. `values` are in the order of the layout's `projection`. */
export interface LookupCandidate {
  readonly originId: string;
  readonly values: readonly Json[];
}

/** A `$lookup` with the values of its holes. */
export interface LookupQuery {
  /** Canonical text: queries with equal texts have equal results. */
  readonly id: string;
  readonly sourceGroup: string | null;
  /** Index keys whose entries together include every match; empty if nothing can match. */
  readonly keys: readonly string[];
  readonly place: string;
  /** The condition as written, for messages. */
  readonly condition: string;
  /** The reads that it can make with any values. */
  readonly plan: LookupPlan;
  /** True if the layout has all indexes and values that the lookup reads. */
  isAnsweredBy(layout: LookupLayout): boolean;
  /**
   * Filters, sorts and limits candidates, which may be in any order and have duplicates. `cut` is true if more than
   * `lookupResultsMax` matched and `top` is not below that.
   */
  select(layout: LookupLayout, candidates: Iterable<LookupCandidate>): Selected;
  /** As `select`, for candidates in portions. */
  selection(layout: LookupLayout): LookupSelection;
}

export interface LookupSelection {
  add(candidates: Iterable<LookupCandidate>): void;
  /** The selection from everything that was added. */
  result(): Selected;
}

export interface Selected {
  readonly originIds: string[];
  /** Number of entities that matched the condition, before `top`; at most `lookupResultsMax`. */
  readonly matched: number;
  readonly cut: boolean;
}
