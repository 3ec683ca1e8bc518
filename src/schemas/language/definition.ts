import type { Cursor } from '../../contract/config-cursor.ts';
import type { Resumable } from '../../lib/cooperative-yield.ts';
import type { PartialSchema } from '../build/build-input.ts';
import type { BodyWriter } from '../build/view-body.ts';
import type { LookupPlan } from '../lookup-plan.ts';
import type { Frame, Scope } from './scope.ts';

/** Writes a property's value; in steps when that takes long. */
export type Write = (frame: Frame, body: BodyWriter) => Resumable<void>;

/** A compiled property definition. */
export interface Definition {
  readonly write: Write;
  /** False when it cannot contain a reference, so that its path need not be followed. */
  readonly mayRefer: boolean;
}

/** Requirements of a file's definitions, found during compilation. */
export class Needs {
  readonly lookupPlans: LookupPlan[] = [];
  /** Partials named by a text without holes. */
  readonly partials = new Set<string>();
  /** True when a partial's alias is known at run time alone: any of them may be meant. */
  anyPartial = false;
  /** Places of reference properties. */
  readonly references: Cursor[] = [];
}

/** How diagnostics name a place of a full schema or an index schema. */
export const ownPlace = (at: Cursor): string => at.path;

/** Shared by the compilers of the property types. */
export interface DefinitionContext {
  readonly scope: Scope;
  readonly needs: Needs;
  /** How diagnostics name a place of this file: `$.properties.x`, `partials/card $.properties.x`. */
  readonly placeOf: (at: Cursor) => string;
  /** Compiles a definition inside this one. */
  readonly inner: (at: Cursor, scope: Scope) => Definition;
}

/** A definition whose value is a number, true, false or null. */
export function scalarDefinition(evaluate: (frame: Frame) => number | boolean | null): Definition {
  return { mayRefer: false, write: (frame, body) => body.value(String(evaluate(frame))) };
}

const writeNull: Write = (_frame, body) => body.value('null');
export const nullDefinition: Definition = { write: writeNull, mayRefer: false };

/** A partial as the mapping language itself sees it; other rooms see a `PartialSchema`. */
export class CompiledPartial implements PartialSchema {
  /** @param write writes the partial's object over a frame whose `root` is what the partial was given */
  constructor(
    readonly alias: string,
    readonly digest: string,
    readonly write: Write,
  ) {}
}
