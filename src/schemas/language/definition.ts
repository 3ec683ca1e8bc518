import type { Cursor } from '../../contract/config-cursor.ts';
import type { Json } from '../../contract/json.ts';
import { chain, type Resumable } from '../../lib/cooperative-yield.ts';
import type { PartialSchema } from '../build/build-input.ts';
import type { BodyWriter } from '../build/view-body.ts';
import type { LookupPlan } from '../lookup-layout.ts';
import type { Frame, Scope } from './scope.ts';

/** Writes the value of a property; in steps if that takes long. */
export type Write = (frame: Frame, body: BodyWriter) => Resumable<void>;

/** A compiled property definition. */
export interface Definition {
  readonly write: Write;
  /** False if it cannot contain a reference, so that its path is not needed. */
  readonly mayRefer: boolean;
}

/** Requirements of a file's definitions, found during compilation. */
export class Needs {
  readonly lookupPlans: LookupPlan[] = [];
  /** Partials whose alias is a constant. */
  readonly partials = new Set<string>();
  /** True if an alias of a partial is only known at run time, so that any partial may be used. */
  anyPartial = false;
  /** Source groups that references name by a constant. */
  readonly sourceGroups = new Set<string>();
  /** True if a source group is only known at run time, so that any may be meant. */
  anySourceGroup = false;
  /** Places of reference properties. */
  readonly references: Cursor[] = [];
}

/** The name of a place of a full schema or an index schema in diagnostics. */
export const ownPlace = (at: Cursor): string => at.path;

/** Shared by the compilers of the property types. */
export interface DefinitionContext {
  readonly scope: Scope;
  readonly needs: Needs;
  /** The name of a place of this file in diagnostics: `$.properties.x`, `partials/card $.properties.x`. */
  readonly placeOf: (at: Cursor) => string;
  /** Compiles a definition inside this one. */
  readonly inner: (at: Cursor, scope: Scope) => Definition;
}

/** A definition whose value is a number, true, false or null. */
export function scalarDefinition(evaluate: (frame: Frame) => number | boolean | null): Definition {
  return { mayRefer: false, write: (frame, body) => body.value(String(evaluate(frame))) };
}

/** A definition whose value is copied. */
export function copyDefinition(value: (frame: Frame) => Resumable<Json>): Definition {
  return { mayRefer: false, write: (frame, body) => chain(value(frame), (copied) => body.copy(copied)) };
}

const writeNull: Write = (_frame, body) => body.value('null');
export const nullDefinition: Definition = { write: writeNull, mayRefer: false };

/** A compiled partial. Other layers only see a `PartialSchema`. */
export class CompiledPartial implements PartialSchema {
  /** @param write writes the partial's object for a frame whose `root` is the input of the partial */
  constructor(
    readonly alias: string,
    readonly digest: string,
    readonly write: Write,
  ) {}
}
