/** Properties with one value: strings, numbers, booleans, and the shorthand for them. */
import type { Cursor } from '../../contract/config-cursor.ts';
import type { Json } from '../../contract/json.ts';
import { parseJsonNumber, roundNumber, roundText } from '../../lib/json-number.ts';
import {
  copyDefinition,
  type Definition,
  type DefinitionContext,
  nullDefinition,
  scalarDefinition,
} from '../language/definition.ts';
import { compileField, compileRequiredField, type Expression } from '../language/expression.ts';
import type { Evaluate, EvaluateText, Scope } from '../language/scope.ts';
import { booleanShape, numberShape, stringShape } from '../shapes.ts';

/** `{type: "string", value, default?}`: `default` replaces null and the empty string. */
export function compileString(at: Cursor, { scope }: DefinitionContext): Definition {
  if (at.object(stringShape) === null) return nullDefinition;
  const value = compileRequiredField(at.member('value'), scope);
  const fallback = at.member('default');
  if (fallback.isAbsent) return textDefinition(value);
  const { text: fallbackText } = compileField(fallback, scope);
  return textDefinition({ constant: null, text: withDefault(value.text, fallbackText) });
}

function withDefault(text: EvaluateText, fallback: EvaluateText): EvaluateText {
  return (frame) => text(frame) || fallback(frame);
}

/** The shorthand: a plain string. */
export function compileShorthand(at: Cursor, { scope }: DefinitionContext): Definition {
  return textDefinition(compileField(at, scope));
}

/** A plain string in a place that accepts any value: if the whole string is one hole, the value keeps its type. */
export function compileAnyValue(at: Cursor, { scope }: DefinitionContext): Definition {
  return copyDefinition(compileField(at, scope).value);
}

function textDefinition({ constant, text }: Pick<Expression, 'constant' | 'text'>): Definition {
  if (constant !== null) return constantDefinition(constant);
  return {
    mayRefer: false,
    write: (frame, body) => {
      const value = text(frame);
      body.value(value === null ? 'null' : JSON.stringify(value));
    },
  };
}

/** A value that is the same for every entity. */
export function constantDefinition(value: string | number | boolean | null): Definition {
  const json = JSON.stringify(value);
  return { mayRefer: false, write: (_frame, body) => body.value(json) };
}

/** An upper bound of the fractional digits of a 64-bit floating-point number. */
const precisionMax = 1_100;

/** `{type: "number", value, default?, precision?}`; any other value is replaced by `default`, which is not rounded. */
export function compileNumber(at: Cursor, context: DefinitionContext): Definition {
  if (at.object(numberShape) === null) return nullDefinition;
  const { value } = compileRequiredField(at.member('value'), context.scope);
  const precision = readPrecision(at.member('precision'));
  const fallback = compileNumberDefault(at.member('default'), context.scope);
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
        message: 'the value is not a number; null replaces it',
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
  at.expected('a whole number, 0 or more', 'Write the number of decimal places, such as 2.');
  return 0;
}

function compileNumberDefault(at: Cursor, scope: Scope): Evaluate | null {
  if (at.isAbsent) return null;
  const { constant, value } = compileField(at, scope);
  if (constant !== null && parseJsonNumber(constant) === null) {
    at.expected('a number', 'Write a number or an expression that gives one.');
  }
  return value;
}

/** `{type: "boolean", value, default?}`: true, false, or these words in any case; any other value is replaced by `default`. */
export function compileBoolean(at: Cursor, context: DefinitionContext): Definition {
  if (at.object(booleanShape) === null) return nullDefinition;
  const { value } = compileRequiredField(at.member('value'), context.scope);
  const fallback = compileBooleanDefault(at.member('default'), context.scope);
  const place = context.placeOf(at);
  return scalarDefinition((frame) => {
    const given = value(frame);
    const boolean = parseBoolean(given) ?? (fallback === null ? null : parseBoolean(fallback(frame)));
    if (boolean === null && given !== null && fallback === null) {
      const message = 'the value is neither true nor false; null replaces it';
      frame.build.report({ kind: 'valueDoesNotFit', place, message });
    }
    return boolean;
  });
}

function parseBoolean(value: Json): boolean | null {
  if (typeof value === 'boolean') return value;
  // Longer strings are not booleans; lower-casing them could copy megabytes.
  if (typeof value !== 'string' || value.length > 5) return null;
  const word = value.toLowerCase();
  if (word === 'true') return true;
  return word === 'false' ? false : null;
}

function compileBooleanDefault(at: Cursor, scope: Scope): Evaluate | null {
  if (at.isAbsent) return null;
  const { constant, value } = compileField(at, scope);
  if (constant !== null && parseBoolean(constant) === null) {
    at.expected('true or false', 'Write true, false or an expression that gives one.');
  }
  return value;
}
