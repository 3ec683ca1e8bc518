/**
 * Between lookups and the store: the indexes that it keeps for a source, the entries of an entity in them, and the query that
 * chooses among entries.
 */
import { createHash } from 'node:crypto';
import { type StoredEntity, stampText } from '../contract/entity.ts';
import { formatEntityId } from '../contract/ids.ts';
import type { Json } from '../contract/json.ts';
import { lookupValuesPerIndexMax } from '../contract/limits.ts';
import { atOnce, type Steps, workBudget } from '../lib/cooperative-yield.ts';
import {
  type LookupIndex,
  type LookupPlan,
  overflowKey,
  type PropertyPath,
  valueKey,
  wholeKey,
} from './lookup-plan.ts';
import { member, scalarText } from './values.ts';

/** The indexes that are kept for one source: the union of what all plans over it need. */
export interface LookupLayout {
  /**
   * Digest; two equal layouts have equal ids. It is in many keys, so it is short: authors who search for two layouts with one id make
   * lookups of their own tenant wrong, and no others.
   */
  readonly id: string;
  readonly indexes: readonly LookupIndex[];
  /** Paths whose values every index entry carries, so that a lookup is answered from the index alone. */
  readonly projection: readonly PropertyPath[];
}

/** Changes whenever the same layout gives other keys or values than before, so that stored indexes are made again. */
const layoutVersion = 1;

/** The indexes that one source must keep for the plans that read it. The order of the plans does not matter. */
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

/** About what it costs to look at a value, in units of the work budget. */
const unitsPerValue = 10;

/** The keys that an entity is under, each once. The keys of a query (`LookupQuery.keys`) are of the same form. */
export function entriesOf(layout: LookupLayout, entity: StoredEntity): string[] {
  return atOnce(entrySteps(layout, entity));
}

/** As `entriesOf`, in steps: for a large entity. */
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

/** Visits the scalars at a path, through all arrays on it and at its end. @returns true when `visit` stopped it */
function* eachScalar(value: Json, steps: readonly string[], visit: VisitScalar): Steps<boolean> {
  const walk = new ScalarWalk(value, steps, visit);
  for (;;) {
    const isStopped = walk.goOn();
    if (isStopped !== null) return isStopped;
    yield;
  }
}

/** Goes over the scalars at a path. A plain loop, because loops in generators are slow. */
class ScalarWalk {
  /** Arrays that it is in, each with the steps of the path that are behind. */
  readonly #open: { readonly items: readonly Json[]; at: number; readonly from: number }[];

  constructor(
    value: Json,
    private readonly steps: readonly string[],
    private readonly visit: VisitScalar,
  ) {
    this.#open = [{ items: [value], at: 0, from: 0 }];
  }

  /** @returns whether `visit` stopped it; null when it pauses */
  goOn(): boolean | null {
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

/** The values of an entity that its index entries carry, in the order of the layout's `projection`. */
export function project(layout: LookupLayout, entity: StoredEntity): Json[] {
  return layout.projection.map(([field = '', ...steps]) => steps.reduce(member, fieldValue(entity, field)));
}

/** A field of an entity by the name that paths use for it. */
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

/** An index entry as the store hands it back. `values` are in the order of the layout's `projection`. */
export interface LookupCandidate {
  readonly originId: string;
  readonly values: readonly Json[];
}

/** A `$lookup` with its holes filled in. */
export interface LookupQuery {
  /** Canonical text: two queries of equal text have equal results. */
  readonly id: string;
  readonly sourceGroup: string | null;
  /** Index keys whose entries together hold every match; empty when nothing can match. */
  readonly keys: readonly string[];
  readonly place: string;
  /** The condition as it is written, for people. */
  readonly condition: string;
  /** Everything that it may read, whatever its values. */
  readonly plan: LookupPlan;
  /** True when the layout has all the indexes and values that the lookup reads, whatever schemas it was made for. */
  isAnsweredBy(layout: LookupLayout): boolean;
  /**
   * Chooses, orders and cuts. Candidates may come in any order and repeat.
   * `cut` is true when more than `lookupResultsMax` matched and the asked `top` did not hide it.
   */
  select(layout: LookupLayout, candidates: Iterable<LookupCandidate>): Selected;
  /** As `select`, of candidates that come in portions. */
  selection(layout: LookupLayout): LookupSelection;
}

export interface LookupSelection {
  add(candidates: Iterable<LookupCandidate>): void;
  /** The selected part of everything that was added. */
  result(): Selected;
}

export interface Selected {
  readonly originIds: string[];
  /** How many entities the condition found, whatever `top` leaves of them; at most `lookupResultsMax`. */
  readonly matched: number;
  readonly cut: boolean;
}
