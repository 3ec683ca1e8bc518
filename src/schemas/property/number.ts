import type { Cursor } from '../../contract/config-cursor.ts';
import type { Json } from '../../contract/json.ts';
import { parseJsonNumber, roundNumber, roundText } from '../../lib/json-number.ts';
import {
  type Definition,
  type DefinitionContext,
  nullDefinition,
  scalarDefinition,
} from '../definition/definition.ts';
import { compileField, compileRequiredField } from '../language/expression-field.ts';
import type { Evaluate, Scope } from '../language/scope.ts';
import { numberShape } from '../shapes.ts';

/** Fractional digits that a 64-bit floating-point number can have at all. */
const precisionMax = 1_100;

/** `{type: "number", value, default?, precision?}`; what is not a number gives `default`, which is not rounded. */
export function compileNumber(at: Cursor, context: DefinitionContext): Definition {
  if (at.object(numberShape) === null) return nullDefinition;
  const { value } = compileRequiredField(at.member('value'), context.scope);
  const precision = readPrecision(at.member('precision'));
  const fallback = compileDefault(at.member('default'), context.scope);
  const place = context.placeOf(at);
  return scalarDefinition((frame) => {
    const given = value(frame);
    const number = rounded(given, precision);
    if (number !== null) return number;
    if (fallback !== null) return numberOf(fallback(frame));
    if (given !== null) {
      frame.build.report({
        kind: 'valueDoesNotFit',
        place,
        message: 'the value is no number; null stands in its place',
      });
    }
    return null;
  });
}

function rounded(value: Json, precision: number): number | null {
  if (typeof value === 'number') return roundNumber(value, precision);
  return typeof value === 'string' ? roundText(value, precision) : null;
}

function numberOf(value: Json): number | null {
  const number = typeof value === 'string' ? parseJsonNumber(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

function readPrecision(at: Cursor): number {
  const { json } = at;
  if (json === undefined) return 0;
  if (typeof json === 'number' && Number.isInteger(json) && json >= 0) return Math.min(json, precisionMax);
  at.expected('a whole number, 0 or more', 'Write how many fractional digits to keep: 2.');
  return 0;
}

function compileDefault(at: Cursor, scope: Scope): Evaluate | null {
  if (at.isAbsent) return null;
  const { constant, value } = compileField(at, scope);
  if (constant !== null && parseJsonNumber(constant) === null) {
    at.expected('a number', 'Write a number or an expression that gives one.');
  }
  return value;
}
