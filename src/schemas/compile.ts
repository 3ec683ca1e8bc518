import { type PartialDraft, reachablePartials, schemaDigest } from './definition/digest.ts';
import { compileFullSchema } from './definition/full-schema.ts';
import { compileIndexSchema } from './definition/index-schema.ts';
import { CompiledPartial } from './definition/partial.ts';
import { compilePartialSchema } from './definition/partial-schema.ts';
import { Scope } from './language/scope.ts';
import type { CompiledSchemas, PathObserver, SchemaSources } from './schema.ts';

/**
 * Compiles the schema files of one tenant. Every mistake is reported through their cursors, and none stops the others from
 * being found. With mistakes around, the result is of no use.
 * @param observer hears what the paths of expressions give; null costs builds nothing
 */
export function compileSchemas(
  sources: SchemaSources,
  observer: PathObserver | null = null,
): CompiledSchemas {
  const entityScope = Scope.entity.observedBy(observer);
  const partialScope = Scope.partial.observedBy(observer);
  const partials: ReadonlyMap<string, PartialDraft> = mapEntries(sources.partials, (alias, at) =>
    compilePartialSchema(alias, at, partialScope),
  );
  return {
    schemas: mapEntries(sources.schemas, (alias, at) => compileFullSchema(alias, at, partials, entityScope)),
    partials: mapEntries(partials, (alias, { json, needs, definition }) => {
      const digest = schemaDigest(json, reachablePartials(needs, partials), partials);
      return new CompiledPartial(alias, digest, definition.write);
    }),
    indexes: mapEntries(sources.indexes, (alias, at) => compileIndexSchema(alias, at, partials, entityScope)),
  };
}

function mapEntries<T, U>(
  map: ReadonlyMap<string, T>,
  change: (alias: string, thing: T) => U,
): Map<string, U> {
  return new Map([...map].map(([alias, thing]) => [alias, change(alias, thing)]));
}
