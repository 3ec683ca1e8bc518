import { createHash } from 'node:crypto';
import type { Cursor } from '../../contract/config-cursor.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import type { Definition, Needs } from '../language/definition.ts';
import type { Scope } from '../language/scope.ts';
import type { FullSchema } from '../schema.ts';

/** Increase it when a new version builds different views from the same schemas, so that they are rebuilt after an update. */
const languageVersion = 2;

/** A compiled partial without its digest, which needs all partials. */
export interface PartialDraft {
  readonly json: Json;
  readonly needs: Needs;
  readonly definition: Definition;
}

export type Partials = ReadonlyMap<string, PartialDraft>;

/** The partials that a build may use, sorted by alias. All partials if an alias is an expression. */
export function reachablePartials(needs: Needs, partials: Partials): string[] {
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

/**
 * Digest of a definition and of the partials it can use, with 32 hex digits. The order of members matters, because views have
 * it.
 */
export function schemaDigest(json: Json, reachable: readonly string[], partials: Partials): string {
  // A missing partial is included as null, so that adding it later changes the digest.
  const definitions = reachable.map((alias) => [alias, partialDigest(partials.get(alias))]);
  const text = JSON.stringify([languageVersion, json, definitions]);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Cached, because many schemas may use a partial. */
const partialDigests = new WeakMap<PartialDraft, string>();

function partialDigest(partial: PartialDraft | undefined): string | null {
  if (partial === undefined) return null;
  const known = partialDigests.get(partial);
  if (known !== undefined) return known;
  const digest = createHash('sha256').update(JSON.stringify(partial.json)).digest('hex');
  partialDigests.set(partial, digest);
  return digest;
}

type Reached = Pick<FullSchema, 'digest' | 'lookupPlans' | 'sourceGroups'>;

/** The digest of a schema, and what it and all partials that it can use may read. */
export function reached(at: Cursor, needs: Needs, partials: Partials): Reached {
  return reachedBy(withoutSchemaName(at.json ?? null), needs, partials);
}

/** `$schema` is for editors, and has no effect on views. */
export function withoutSchemaName(json: Json): Json {
  if (!isJsonObject(json) || !Object.hasOwn(json, '$schema')) return json;
  const { $schema: _, ...rest } = json;
  return rest;
}

/** As `reached`, for a definition that is not in a JSON file. */
export function reachedBy(json: Json, needs: Needs, partials: Partials): Reached {
  const reachable = reachablePartials(needs, partials);
  const all = [needs, ...reachable.flatMap((alias) => partials.get(alias)?.needs ?? [])];
  const lookupPlans = all.flatMap((one) => one.lookupPlans);
  return {
    digest: schemaDigest(json, reachable, partials),
    lookupPlans,
    sourceGroups: all.some(({ anySourceGroup }) => anySourceGroup)
      ? null
      : new Set([
          ...all.flatMap(({ sourceGroups }) => [...sourceGroups]),
          ...lookupPlans.flatMap(({ sourceGroup }) => sourceGroup ?? []),
        ]),
  };
}

/** What compiling a full schema or an index needs. */
export interface Surroundings {
  readonly partials: Partials;
  readonly scope: Scope;
  /** Aliases of all source groups of the tenant. */
  readonly sourceGroups: readonly string[];
}
