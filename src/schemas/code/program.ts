/**
 * A schema in JavaScript as it is stored and travels: bundled, without types, with what it says of itself. Nothing of it
 * is run where configurations are loaded.
 */
import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';
import type { Json } from '../../contract/json.ts';
import { type CodeFailure, type LookupRequest, type ProgramKind, programName } from '../build/code-call.ts';

export interface CodeProgram {
  readonly kind: ProgramKind;
  readonly alias: string;
  /** Source file, relative to CONFIG_DIR. */
  readonly file: string;
  /** It, and the files that it imports. */
  readonly files: readonly string[];
  /** Body of a function that returns the default export; it holds what the file imports. */
  readonly code: string;
  /** Source map of `code`, without the sources. */
  readonly map: string;
  /** Functions that it has: `routes`, `properties`, `actions`. */
  readonly members: readonly string[];
  /** Source group -> entity types. */
  readonly triggers: readonly (readonly [sourceGroup: string, types: readonly string[]])[];
  /** Of an index schema, else null. */
  readonly index: Json;
  /** Partials that it names; null: which ones is known at run time alone. */
  readonly partials: readonly string[] | null;
  /**
   * Lookups that it can be seen to ask for, with any values in their filters. What they read is indexed beforehand; for
   * other lookups when a build first asks.
   */
  readonly lookups: readonly LookupRequest[];
  /** Names that are in its sources as plain text. */
  readonly names: readonly CodeName[];
}

export interface CodeName {
  readonly kind: 'source group' | 'schema' | 'partial' | 'webhook';
  readonly name: string;
  readonly file: string;
  /** Both from 1; 0: not known. */
  readonly line: number;
  readonly column: number;
}

/** The programs of a tenant, by `programName`. */
export type ProgramsByName = ReadonlyMap<string, CodeProgram>;

export function programsByName(programs: readonly CodeProgram[]): ProgramsByName {
  return new Map(programs.map((program) => [programName(program.kind, program.alias), program]));
}

/** A place in a source file; both numbers from 1. */
export interface SourcePlace {
  /** Relative to CONFIG_DIR. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A program, or what is to become one. */
type Mapped = Pick<CodeProgram, 'map'>;

const traceMaps = new WeakMap<Mapped, TraceMap>();

/** The place in a source file that a place in a program's code was built from; null where none was. */
export function sourcePlace(program: Mapped, line: number, column: number): SourcePlace | null {
  const map = traceMaps.get(program) ?? new TraceMap(program.map);
  traceMaps.set(program, map);
  if (line < 1 || column < 1) return null;
  const original = originalPositionFor(map, { line, column: column - 1 });
  if (original.source === null) return null;
  return { file: original.source, line: original.line, column: original.column + 1 };
}

/** Where code failed: `tenants/acme/schemas/page.full.ts:12:7`; the file alone where the line is not known. */
export function failurePlace(programs: ProgramsByName, failure: CodeFailure, own: CodeProgram): string {
  const program = failure.program === null ? own : (programs.get(failure.program) ?? own);
  const place = sourcePlace(program, failure.line, failure.column);
  return place === null ? program.file : `${place.file}:${place.line}:${place.column}`;
}
