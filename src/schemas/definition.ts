import type { BodyWriter } from './body.ts';
import type { Cursor } from './cursor.ts';
import type { Frame, Scope } from './scope.ts';
import type { LookupPlan } from './types.ts';

/** Writes a property's value. */
export type Write = (frame: Frame, body: BodyWriter) => void;

/** A compiled property definition. */
export interface Definition {
  readonly write: Write;
  /** False when no reference can come of it, so that nobody needs to follow its path. */
  readonly mayRefer: boolean;
}

/** What a file's definitions were found to need while they were compiled. */
export class Needs {
  readonly lookupPlans: LookupPlan[] = [];
  /** Partials named by a text without holes. */
  readonly partials = new Set<string>();
  /** True when a partial's alias is known at run time alone: any of them may be meant. */
  anyPartial = false;
  /** Places of reference properties. */
  readonly references: Cursor[] = [];
}

/** What the compilers of the property types share. */
export interface DefinitionContext {
  readonly scope: Scope;
  readonly needs: Needs;
  /** How diagnostics name a place of this file: `$.properties.x`, `partials/card $.properties.x`. */
  readonly placeOf: (at: Cursor) => string;
  /** Compiles a definition inside this one. */
  readonly inner: (at: Cursor, scope: Scope) => Definition;
}

export const writeNull: Write = (_frame, body) => body.value('null');
export const nullDefinition: Definition = { write: writeNull, mayRefer: false };
