import type { Steps } from '../lib/cooperative-yield.ts';
import { TenantCode } from './code/code-run.ts';
import { codeFullSchema, codeIndexSchema, codePartial } from './code/code-schema.ts';
import type { CodeProgram } from './code/program.ts';
import { type PartialDraft, reachablePartials, schemaDigest } from './definition/definition-digest.ts';
import { compileFullSchema, compilePartialSchema } from './definition/full-schema.ts';
import { compileIndexSchema } from './definition/index-schema.ts';
import { CompiledPartial } from './language/definition.ts';
import { type PathObserver, Scope } from './language/scope.ts';
import type { CompiledSchemas, SchemaSources } from './schema.ts';

/**
 * Compiles the schema files of one tenant, in steps of one file. All errors are reported through their cursors; the first one
 * does not hide the others. If there are errors, the result is unusable.
 * @param observer receives the values of paths in expressions; null costs nothing
 */
export function* compileSchemas(
  sources: SchemaSources,
  observer: PathObserver | null = null,
): Steps<CompiledSchemas> {
  const entityScope = Scope.entity.observedBy(observer);
  const partialScope = Scope.partial.observedBy(observer);
  const code = new TenantCode(sources.tenant ?? '', sources.code ?? []);
  const partials: ReadonlyMap<string, PartialDraft> = new Map([
    ...(yield* mapEntries(sources.partials, (alias, at) => compilePartialSchema(alias, at, partialScope))),
    ...byAlias(code.ofKind('partial'), (program) => codePartial(program, code)),
  ]);
  const surroundings = { partials, scope: entityScope, sourceGroups: sources.sourceGroups };
  return {
    schemas: new Map([
      ...(yield* mapEntries(sources.schemas, (alias, at) => compileFullSchema(alias, at, surroundings))),
      ...byAlias(code.ofKind('full'), (program) => codeFullSchema(program, code, partials)),
    ]),
    partials: yield* mapEntries(partials, (alias, { json, needs, definition }) => {
      const digest = schemaDigest(json, reachablePartials(needs, partials), partials);
      return new CompiledPartial(alias, digest, definition.write);
    }),
    indexes: new Map([
      ...(yield* mapEntries(sources.indexes, (alias, at) => compileIndexSchema(alias, at, surroundings))),
      ...byAlias(code.ofKind('index'), (program) => codeIndexSchema(program, code, partials)),
    ]),
  };
}

function byAlias<T>(programs: readonly CodeProgram[], make: (program: CodeProgram) => T): [string, T][] {
  return programs.map((program) => [program.alias, make(program)]);
}

function* mapEntries<T, U>(
  map: ReadonlyMap<string, T>,
  change: (alias: string, thing: T) => U,
): Steps<Map<string, U>> {
  const changed = new Map<string, U>();
  for (const [alias, thing] of map) {
    changed.set(alias, change(alias, thing));
    yield;
  }
  return changed;
}
