import type { Cursor } from '../../contract/config-cursor.ts';
import type { Json } from '../../contract/json.ts';
import {
  type Definition,
  type DefinitionContext,
  nullDefinition,
  scalarDefinition,
} from '../definition/definition.ts';
import { compileField, compileRequiredField } from '../language/expression-field.ts';
import type { Evaluate, Scope } from '../language/scope.ts';
import { booleanShape } from '../shapes.ts';

/** `{type: "boolean", value, default?}`: true, false, or these words in any case; anything else gives `default`. */
export function compileBoolean(at: Cursor, context: DefinitionContext): Definition {
  if (at.object(booleanShape) === null) return nullDefinition;
  const { value } = compileRequiredField(at.member('value'), context.scope);
  const fallback = compileDefault(at.member('default'), context.scope);
  const place = context.placeOf(at);
  return scalarDefinition((frame) => {
    const given = value(frame);
    const boolean = parseBoolean(given) ?? (fallback === null ? null : parseBoolean(fallback(frame)));
    if (boolean === null && given !== null && fallback === null) {
      const message = 'the value is neither true nor false; null stands in its place';
      frame.build.report({ kind: 'valueDoesNotFit', place, message });
    }
    return boolean;
  });
}

function parseBoolean(value: Json): boolean | null {
  if (typeof value === 'boolean') return value;
  // Longer strings are not booleans; not lower-casing them spares copying megabytes.
  if (typeof value !== 'string' || value.length > 5) return null;
  const word = value.toLowerCase();
  if (word === 'true') return true;
  return word === 'false' ? false : null;
}

function compileDefault(at: Cursor, scope: Scope): Evaluate | null {
  if (at.isAbsent) return null;
  const { constant, value } = compileField(at, scope);
  if (constant !== null && parseBoolean(constant) === null) {
    at.expected('true or false', 'Write true, false or an expression that gives one.');
  }
  return value;
}
