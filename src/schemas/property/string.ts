import type { Cursor } from '../../contract/config-cursor.ts';
import { type Definition, type DefinitionContext, nullDefinition } from '../definition/definition.ts';
import type { Expression } from '../language/expression.ts';
import { compileField, compileRequiredField } from '../language/expression-field.ts';
import type { EvaluateText } from '../language/scope.ts';
import { stringShape } from '../shapes.ts';

/** `{type: "string", value, default?}`: `default` stands for null and for the empty text. */
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

/** The shorthand: a bare text. */
export function compileShorthand(at: Cursor, { scope }: DefinitionContext): Definition {
  return textDefinition(compileField(at, scope));
}

/** A bare text where any value is wanted: a hole that is the whole text keeps its value's type. */
export function compileAnyValue(at: Cursor, { scope }: DefinitionContext): Definition {
  const { value } = compileField(at, scope);
  return {
    mayRefer: false,
    write: (frame, body) => body.copy(value(frame)),
  };
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
