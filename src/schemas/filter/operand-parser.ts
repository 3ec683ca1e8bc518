import type { Json } from '../../contract/json.ts';
import { joinParts } from '../language/expression.ts';
import { parseHole } from '../language/expression-parser.ts';
import type { Reader } from '../language/reader.ts';
import type { Evaluate, Scope } from '../language/scope.ts';
import type { QueryValues } from '../lookup/query-values.ts';
import type { Operand } from './node.ts';

const literalWords: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** Parses what a condition compares with: a text, which may have holes, a number, a literal word or a hole. */
export class OperandParser {
  readonly #reader: Reader;
  readonly #scope: Scope;
  readonly #values: QueryValues;

  constructor(reader: Reader, scope: Scope, values: QueryValues) {
    this.#reader = reader;
    this.#scope = scope;
    this.#values = values;
  }

  /** The operand that stands here. @throws SyntaxMistake */
  take(): Operand {
    const reader = this.#reader;
    if (reader.next === '{') return this.#values.add(parseHole(reader, this.#scope));
    if (reader.next === "'") return this.#textOperand(this.#takeQuoted(true));
    const number = reader.takeNumber();
    if (number !== null) return this.#values.addConstant(Number(number));
    const start = reader.position;
    const literal = literalWords.get(reader.takeIdentifier() ?? '');
    if (literal !== undefined) return this.#values.addConstant(literal);
    throw reader.expected("a value: `'text'`, a number, true, false, null or a hole `{…}`", start);
  }

  /** A name in single quotes, without holes. @throws SyntaxMistake */
  takeName(): string {
    return this.#takeQuoted(false).join('');
  }

  #textOperand(parts: readonly (string | Evaluate)[]): Operand {
    const text = parts.every((part) => typeof part === 'string') ? parts.join('') : null;
    if (text !== null) return this.#values.addConstant(text);
    return this.#values.add((frame) => joinParts(parts, frame));
  }

  /** A text in single quotes, a quote in it doubled; holes in it are filled with their text. */
  #takeQuoted(mayHaveHoles: boolean): (string | Evaluate)[] {
    const reader = this.#reader;
    const start = reader.position;
    reader.expect("'");
    const parts: (string | Evaluate)[] = [];
    let literal = '';
    while (!reader.atEnd) {
      if (reader.take("''")) literal += "'";
      else if (reader.take("'")) return [...parts, literal];
      else if (reader.take('{{')) literal += '{';
      else if (reader.take('}}')) literal += '}';
      else if (mayHaveHoles && reader.next === '{') {
        parts.push(literal, parseHole(reader, this.#scope));
        literal = '';
      } else {
        literal += reader.next;
        reader.position += 1;
      }
    }
    throw reader.mistake(
      'the text in quotes does not end',
      "Close it with '; a quote inside is doubled.",
      start,
    );
  }
}
