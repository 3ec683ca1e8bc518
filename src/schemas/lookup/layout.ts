import { createHash } from 'node:crypto';
import type { StoredEntity } from '../../contract/entity.ts';
import { stampText } from '../../contract/entity.ts';
import { formatEntityId } from '../../contract/ids.ts';
import type { Json } from '../../contract/json.ts';
import { lookupValuesPerIndexMax } from '../../contract/limits.ts';
import { member } from '../language/member.ts';
import { scalarText } from '../language/value-text.ts';
import { overflowKey, valueKey, wholeKey } from './key.ts';
import type { LookupIndex, LookupPlan, PropertyPath } from './plan.ts';

/** The indexes that are kept for one source: the union of what all plans over it need. */
export interface LookupLayout {
  /** Digest; two equal layouts have equal ids. */
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

/** The keys that an entity stands under, each once. The keys of a query (`LookupQuery.keys`) are of the same form. */
export function entriesOf(layout: LookupLayout, entity: StoredEntity): string[] {
  const keys = new Set<string>();
  for (const index of layout.indexes) {
    if (index.type === '*' || index.type === entity.type) addKeys(index, entity, keys);
  }
  return [...keys];
}

function addKeys(index: LookupIndex, entity: StoredEntity, keys: Set<string>): void {
  if (index.kind === 'all') {
    keys.add(wholeKey(index));
    return;
  }
  const [field = '', ...steps] = index.path;
  const start = fieldValue(entity, field);
  if (index.kind === 'text') {
    if (eachScalar(start, steps, 0, (value) => typeof value === 'string')) keys.add(wholeKey(index));
    return;
  }
  const texts = new Set<string>();
  const overflowed = eachScalar(start, steps, 0, (value) => {
    texts.add(scalarText(value) ?? '');
    return texts.size > lookupValuesPerIndexMax;
  });
  if (overflowed) keys.add(overflowKey(index));
  else for (const text of texts) keys.add(valueKey(index, text));
}

/** Visits the scalars at a path, through all arrays on it and at its end. @returns true when `visit` stopped it */
function eachScalar(
  value: Json,
  steps: readonly string[],
  from: number,
  visit: (value: string | number | boolean) => boolean,
): boolean {
  if (Array.isArray(value)) return value.some((item) => eachScalar(item, steps, from, visit));
  const step = steps[from];
  if (step !== undefined) return eachScalar(member(value, step), steps, from + 1, visit);
  return typeof value === 'object' ? false : visit(value);
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
