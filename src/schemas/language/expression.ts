import { languageTextCharactersMax, textCharactersMax } from '../../contract/limits.ts';
import { parseHole } from './expression-parser.ts';
import { Reader } from './reader.ts';
import type { Evaluate, EvaluateText, Frame, Scope } from './scope.ts';
import { SyntaxMistake } from './syntax-mistake.ts';

/** A compiled expression (docs/reference/mapping-language.md "Expressions"). */
export interface Expression {
  /** The text when it has no holes, else null. */
  readonly constant: string | null;
  /** A hole that is the whole text keeps its value's type; anything else is text. */
  readonly value: Evaluate;
  /** Null when the whole is null alone; a null within text is empty. */
  readonly text: EvaluateText;
}

type Part = string | Evaluate;

/**
 * Compiles text with `{…}` holes. `{{` and `}}` write braces.
 * @throws SyntaxMistake
 */
export function compileExpression(text: string, scope: Scope): Expression {
  refuseLongText(text);
  const parts = parseParts(new Reader(text), scope);
  const [first, ...rest] = parts;
  if (first === undefined) return constantExpression('');
  if (rest.length > 0) return templateExpression(parts);
  return typeof first === 'string' ? constantExpression(first) : holeExpression(first);
}

/** @throws SyntaxMistake for a text that no person wrote. */
export function refuseLongText(text: string): void {
  if (text.length <= languageTextCharactersMax) return;
  const message = `the text is longer than ${languageTextCharactersMax} characters`;
  throw new SyntaxMistake(message, languageTextCharactersMax, 'Shorten it.');
}

function parseParts(reader: Reader, scope: Scope): Part[] {
  const parts: Part[] = [];
  let literal = '';
  while (!reader.atEnd) {
    if (reader.take('{{')) literal += '{';
    else if (reader.take('}}')) literal += '}';
    else if (reader.next === '}') throw loneBrace(reader);
    else if (reader.next !== '{') literal += takeLiteral(reader);
    else {
      if (literal !== '') parts.push(literal);
      literal = '';
      parts.push(parseHole(reader, scope));
    }
  }
  if (literal !== '') parts.push(literal);
  return parts;
}

function takeLiteral(reader: Reader): string {
  const start = reader.position;
  while (!reader.atEnd && reader.next !== '{' && reader.next !== '}') reader.position += 1;
  return reader.text.slice(start, reader.position);
}

function loneBrace(reader: Reader): SyntaxMistake {
  return reader.mistake('a closing brace stands outside a hole', 'Write `}}` for a brace in the text.');
}

function constantExpression(text: string): Expression {
  const evaluate = () => text;
  return { constant: text, value: evaluate, text: evaluate };
}

function holeExpression(hole: Evaluate): Expression {
  return { constant: null, value: hole, text: (frame) => frame.build.text(hole(frame)) };
}

function templateExpression(parts: readonly Part[]): Expression {
  const text = (frame: Frame) => joinParts(parts, frame);
  return { constant: null, value: text, text };
}

/** The text of several parts, null as nothing. Null when it outgrows `textCharactersMax`. */
export function joinParts(parts: readonly Part[], frame: Frame): string | null {
  let text = '';
  for (const part of parts) {
    text += typeof part === 'string' ? part : (frame.build.text(part(frame)) ?? '');
    // Checked at each step: two hundred holes over a 5 MB text would pass what a string can hold.
    if (text.length > textCharactersMax) {
      frame.build.limitReached(
        '$',
        `an expression gives more than ${textCharactersMax} characters; it is null`,
      );
      return null;
    }
  }
  return text;
}
