import type { Cursor } from '../../contract/config-cursor.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import { expShape } from '../shapes.ts';
import { compileExpression, type Expression } from './expression.ts';
import { parseAt } from './reader.ts';
import type { Scope } from './scope.ts';
import { valueText } from './values.ts';

const nullExpression: Expression = { constant: null, value: () => null, text: () => null };

/**
 * A place of a schema that takes an expression: a text with holes, `{"$exp": text}`, or a literal. After a mistake,
 * which is reported, it is null.
 */
export function compileField(at: Cursor, scope: Scope): Expression {
  const { json } = at;
  if (typeof json === 'string')
    return parseAt(at, () => compileExpression(json, scope.at(at))) ?? nullExpression;
  if (json === null || typeof json === 'number' || typeof json === 'boolean') return literal(json);
  if (isJsonObject(json)) return compileExp(at, scope);
  at.expected('a string, an expression or a literal', 'Write a string such as `{p.title}`.');
  return nullExpression;
}

/** The same for a key that must be there. */
export function compileRequiredField(at: Cursor, scope: Scope): Expression {
  if (!at.isAbsent) return compileField(at, scope);
  at.issue('this key is missing', 'Add it: a string such as `{p.title}`.');
  return nullExpression;
}

function compileExp(at: Cursor, scope: Scope): Expression {
  at.object(expShape);
  const text = at.member('$exp').text('Write an expression: {"$exp": "{p.title}"}.');
  return text === null ? nullExpression : compileField(at.member('$exp'), scope);
}

function literal(json: Json): Expression {
  const text = valueText(json);
  return { constant: text, value: () => json, text: () => text };
}
