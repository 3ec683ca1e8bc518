import { codeFullSchema, codeIndexSchema, codePartial, TenantCode } from './code/code-schema.ts';
import type { CodeProgram } from './code/program.ts';
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
  const code = new TenantCode(sources.tenant ?? '', sources.code ?? []);
  const partials: ReadonlyMap<string, PartialDraft> = new Map([
    ...mapEntries(sources.partials, (alias, at) => compilePartialSchema(alias, at, partialScope)),
    ...byAlias(code.ofKind('partial'), (program) => codePartial(program, code)),
  ]);
  const surroundings = { partials, scope: entityScope, sourceGroups: sources.sourceGroups };
  return {
    hasCode: code.programs.length > 0,
    schemas: new Map([
      ...mapEntries(sources.schemas, (alias, at) => compileFullSchema(alias, at, surroundings)),
      ...byAlias(code.ofKind('full'), (program) => codeFullSchema(program, code, partials)),
    ]),
    partials: mapEntries(partials, (alias, { json, needs, definition }) => {
      const digest = schemaDigest(json, reachablePartials(needs, partials), partials);
      return new CompiledPartial(alias, digest, definition.write);
    }),
    indexes: new Map([
      ...mapEntries(sources.indexes, (alias, at) => compileIndexSchema(alias, at, surroundings)),
      ...byAlias(code.ofKind('index'), (program) => codeIndexSchema(program, code, partials)),
    ]),
  };
}

function byAlias<T>(programs: readonly CodeProgram[], make: (program: CodeProgram) => T): [string, T][] {
  return programs.map((program) => [program.alias, make(program)]);
}

function mapEntries<T, U>(
  map: ReadonlyMap<string, T>,
  change: (alias: string, thing: T) => U,
): Map<string, U> {
  return new Map([...map].map(([alias, thing]) => [alias, change(alias, thing)]));
}
