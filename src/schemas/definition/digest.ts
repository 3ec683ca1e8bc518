import { createHash } from 'node:crypto';
import type { Json } from '../../contract/json.ts';
import type { Needs } from './definition.ts';

/** Changes whenever the language gives other views for the same schemas, so that they are rebuilt after an update. */
const languageVersion = 2;

/** A partial's definition and what it needs itself. */
export interface PartialSource {
  readonly json: Json;
  readonly needs: Needs;
}

/** The partials that a build may enter, in the order of their aliases. All of them once an alias is an expression. */
export function reachablePartials(needs: Needs, partials: ReadonlyMap<string, PartialSource>): string[] {
  const reached = new Set<string>();
  const open = [needs];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const named = next.anyPartial ? [...next.partials, ...partials.keys()] : next.partials;
    for (const alias of named) {
      if (reached.has(alias)) continue;
      reached.add(alias);
      const partial = partials.get(alias);
      if (partial !== undefined) open.push(partial.needs);
    }
  }
  return [...reached].sort();
}

/** Digest of a definition and of the partials it can reach, 32 hex digits. The order of members counts: views show it. */
export function digestOf(
  json: Json,
  reachable: readonly string[],
  partials: ReadonlyMap<string, PartialSource>,
): string {
  // A partial that is named but missing stands as null: adding it later changes the digest.
  const definitions = reachable.map((alias) => [alias, partials.get(alias)?.json ?? null]);
  const text = JSON.stringify([languageVersion, json, definitions]);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
