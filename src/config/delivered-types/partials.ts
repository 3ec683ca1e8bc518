import type { Cursor } from '../../contract/config-cursor.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import type { CodeProgram } from '../../schemas/code/program.ts';
import { constantOf, type KnownTypes } from './mapping-types.ts';

/** The partials of a tenant, and which of them may come upon themselves. */
export function partialsOf(
  files: ReadonlyMap<string, Cursor>,
  programs: readonly CodeProgram[],
): KnownTypes['partials'] {
  const all = [...files.keys()];
  const usedBy = new Map(
    [...files].map(([alias, { file, json }]) => {
      const program = programs.find((one) => one.file === file);
      const used = program === undefined ? usedIn(json ?? null) : program.partials;
      return [alias, used ?? all] as const;
    }),
  );
  return new Map(all.map((alias) => [alias, { isCyclic: reachedFrom(alias, usedBy).has(alias) }]));
}

/** Aliases of partials that a definition uses; null: which ones is known at run time alone. */
function usedIn(json: Json): readonly string[] | null {
  if (typeof json !== 'object' || json === null) return [];
  const own = isJsonObject(json) && json.type === 'partial' ? [constantOf(json.alias)] : [];
  const below = Object.values(json).map(usedIn);
  if (own.includes(null) || below.includes(null)) return null;
  return [...own, ...below.flat()].filter((alias) => alias !== null);
}

function reachedFrom(alias: string, usedBy: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set<string>();
  const waiting = [...(usedBy.get(alias) ?? [])];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    waiting.push(...(usedBy.get(next) ?? []));
  }
  return reached;
}
