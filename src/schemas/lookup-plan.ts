/** The reads that a `$lookup` can make, known when its schema is compiled, and the keys of the indexes that it reads. */
import { createHash } from 'node:crypto';
import { lookupKeyCharactersMax } from '../contract/limits.ts';
import { isEntityField } from './build/entity-value.ts';

/** A path into an entity: `['properties', 'tags']`, `['type']`. */
export type PropertyPath = readonly string[];

/** One property index that lookups read: the entities of `type` under each scalar value found at `path`. */
export interface LookupIndex {
  /** Entity type, or `*` for all. */
  readonly type: string;
  /**
   * `value`: one key for each scalar at `path`, arrays along the way and at the end spread;
   * `text`: one key for all entities that have a text at `path` (what a substring search must read);
   * `all`: one key for all entities of the type (path is empty).
   */
  readonly kind: 'value' | 'text' | 'all';
  readonly path: PropertyPath;
}

/** The reads that a `$lookup` of a schema can make, known when the schema is compiled. */
export interface LookupPlan {
  /** Source group alias that it names, or null for the asking entity's own. */
  readonly sourceGroup: string | null;
  readonly indexes: readonly LookupIndex[];
  /** Paths that its condition and its order read. */
  readonly reads: readonly PropertyPath[];
}

/** Keeps apart the parts of a key; a clash of two keys would only make a lookup read more than it needs. */
const separator = '\u001f';

/** The key of the entities with the scalar `text` in a `value` index. */
export function valueKey({ type, path }: LookupIndex, text: string): string {
  return bounded(`v${type}${separator}${path.join('.')}${separator}${text}`);
}

/** The key of the entities with more values than `lookupValuesPerIndexMax`: they may have any. */
export function overflowKey({ type, path }: LookupIndex): string {
  return bounded(`o${type}${separator}${path.join('.')}`);
}

/** The one key of a `text` or `all` index. */
export function wholeKey({ kind, type, path }: LookupIndex): string {
  return bounded(`${kind === 'text' ? 't' : 'a'}${type}${separator}${path.join('.')}`);
}

function bounded(key: string): string {
  if (key.length <= lookupKeyCharactersMax) return key;
  return `#${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
}

/**
 * Where a name of `sourceEntityProperty` or `orderBy.property` is looked for, best first. First comes a dotted path in
 * `properties`, then an entity's own field of that name, such as `originParentId`. With `properties.`
 * or `p.` in front it is looked for in the properties alone.
 */
export function propertyPaths(name: string): readonly PropertyPath[] {
  const [first = '', ...rest] = name.split('.');
  if ((first === 'properties' || first === 'p') && rest.length > 0) return [['properties', ...rest]];
  const inProperties = ['properties', first, ...rest];
  return rest.length === 0 && isEntityField(first) ? [inProperties, [first]] : [inProperties];
}
