/**
 * A schema in JavaScript in its stored form: bundled, without types, with its metadata. Loading a configuration runs none of
 * its code.
 */
import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';
import type { Json } from '../../contract/json.ts';
import { type CodeFailure, type LookupRequest, type ProgramKind, programName } from '../build/code-call.ts';

export interface CodeProgram {
  readonly kind: ProgramKind;
  readonly alias: string;
  /** Source file, relative to CONFIG_DIR. */
  readonly file: string;
  /** The source file, and the files that it imports. */
  readonly files: readonly string[];
  /** Body of a function that returns the default export, with all imports bundled. */
  readonly code: string;
  /** Source map of `code`, without the sources. */
  readonly map: string;
  /** Functions of the schema: `routes`, `properties`, `actions`. */
  readonly members: readonly string[];
  /** Source group -> entity types. */
  readonly triggers: readonly (readonly [sourceGroup: string, types: readonly string[]])[];
  /** `index` of an index schema; otherwise null. */
  readonly index: Json;
  /** Partials that it uses; null if they are only known at run time. */
  readonly partials: readonly string[] | null;
  /**
   * Lookups that static analysis has found, with placeholder values in their filters. Their properties are indexed in advance;
   * those of other lookups when a build first requests them.
   */
  readonly lookups: readonly LookupRequest[];
  /** Names in string literals of its sources. */
  readonly names: readonly CodeName[];
}

export interface CodeName {
  readonly kind: 'source group' | 'schema' | 'partial' | 'webhook';
  readonly name: string;
  readonly file: string;
  /** Both from 1; 0 if unknown. */
  readonly line: number;
  readonly column: number;
}

/** The programs of a tenant, by `programName`. */
export type ProgramsByName = ReadonlyMap<string, CodeProgram>;

export function programsByName(programs: readonly CodeProgram[]): ProgramsByName {
  return new Map(programs.map((program) => [programName(program.kind, program.alias), program]));
}

/** A position in a source file, from 1. */
export interface SourcePosition {
  /** Relative to CONFIG_DIR. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A program, or one that is being built. */
type Mapped = Pick<CodeProgram, 'map'>;

const traceMaps = new WeakMap<Mapped, TraceMap>();

/** Maps a position in a program's code to its source file; null if there is none. */
export function sourcePosition(program: Mapped, line: number, column: number): SourcePosition | null {
  const map = traceMaps.get(program) ?? new TraceMap(program.map);
  traceMaps.set(program, map);
  if (line < 1 || column < 1) return null;
  const original = originalPositionFor(map, { line, column: column - 1 });
  if (original.source === null) return null;
  return { file: original.source, line: original.line, column: original.column + 1 };
}

/** Where code failed, for messages: `tenants/acme/schemas/page.full.ts:12:7`; only the file if the line is unknown. */
export function failurePosition(programs: ProgramsByName, failure: CodeFailure, own: CodeProgram): string {
  const program = failure.program === null ? own : (programs.get(failure.program) ?? own);
  const position = sourcePosition(program, failure.line, failure.column);
  return position === null ? program.file : `${position.file}:${position.line}:${position.column}`;
}
