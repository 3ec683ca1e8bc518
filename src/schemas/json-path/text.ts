import { pathMarksMax, pathNestingMax } from '../../contract/limits.ts';
import { joinParts, parseHole } from '../language/expression.ts';
import type { Reader } from '../language/reader.ts';
import type { Evaluate, Scope } from '../language/scope.ts';
import { valueText } from '../values.ts';

/** Surrounds the number of a hole. An unpaired surrogate, which neither a path nor an escape can contain. */
const holeMark = '\udc00';

/** The text of a path as plain JSONPath, in which each hole is replaced by its number in a quoted literal. */
export interface PathText {
  readonly jsonPath: string;
  readonly holes: readonly Evaluate[];
  /** Maps a position in `jsonPath` to the original text. */
  readonly originalPosition: (position: number) => number;
}

/**
 * Converts the text of a path to a JSONPath that does not depend on the values of its holes, so that it is compiled once and
 * values cannot become syntax. (The library cannot read every value: it rejects `"\u0001"`.)
 * @throws SchemaSyntaxError
 */
export function readPathText(reader: Reader, scope: Scope): PathText {
  return new PathTextReader(reader, scope).read();
}

class PathTextReader {
  readonly #reader: Reader;
  readonly #scope: Scope;
  readonly #holes: Evaluate[] = [];
  /** Pairs of positions in the original text and in the JSONPath, ascending. */
  readonly #positions: { readonly written: number; readonly compiled: number }[] = [];
  #jsonPath = '';
  #marks = 0;
  #nesting = 0;

  constructor(reader: Reader, scope: Scope) {
    this.#reader = reader;
    this.#scope = scope;
  }

  read(): PathText {
    const reader = this.#reader;
    this.#rejectLoneSurrogates();
    this.#jsonPath = this.#missingRoot();
    this.#recordPosition();
    while (!reader.atEnd) {
      if (reader.next === "'" || reader.next === '"') this.#readQuoted();
      else if (reader.next === '{') this.#fill((literal) => `'${literal}'`, parseHole(reader, this.#scope));
      else this.#readMark();
    }
    const positions = this.#positions;
    return {
      jsonPath: this.#jsonPath,
      holes: this.#holes,
      originalPosition: (position) => positionBefore(positions, position),
    };
  }

  /** RFC 9535 section 2.1: a path consists of Unicode scalar values. */
  #rejectLoneSurrogates(): void {
    const position = this.#reader.text.search(/\p{Surrogate}/u);
    if (position >= 0) throw this.#reader.syntaxError('unpaired surrogate', 'Remove it.', position);
  }

  /** The leading `$.` is optional (docs/reference/mapping-language.md "Paths"). */
  #missingRoot(): string {
    const { next } = this.#reader;
    if (next === '$') return '';
    return next === '[' || next === '.' ? '$' : '$.';
  }

  /** Limits nesting and length, because the library parses by recursion. */
  #readMark(): void {
    const { next } = this.#reader;
    if (next === '(' || next === '[') this.#nesting += 1;
    if (next === ')' || next === ']') this.#nesting -= 1;
    if (this.#nesting > pathNestingMax) {
      throw this.#reader.syntaxError(`nested deeper than ${pathNestingMax} levels`, 'Reduce the nesting.');
    }
    if ('.[(!&|,'.includes(next)) this.#marks += 1;
    if (this.#marks > pathMarksMax) {
      throw this.#reader.syntaxError(`more than ${pathMarksMax} dots, brackets and operators`, 'Shorten it.');
    }
    this.#take(1);
  }

  /** Copies a quoted string, in which holes are replaced by marks; `{{` and `}}` are braces. */
  #readQuoted(): void {
    const reader = this.#reader;
    const start = reader.position;
    const quote = reader.next;
    this.#take(1);
    while (reader.next !== quote) {
      if (reader.atEnd) throw reader.syntaxError('unterminated string', `Close it with ${quote}.`, start);
      this.#readQuotedPart();
    }
    this.#take(1);
  }

  #readQuotedPart(): void {
    const reader = this.#reader;
    if (reader.startsWith('{{') || reader.startsWith('}}')) {
      reader.position += 1;
      this.#recordPosition();
      this.#take(1);
    } else if (reader.next === '{') {
      const hole = parseHole(reader, this.#scope);
      this.#fill(
        (literal) => literal,
        (frame) => joinParts([hole], frame),
      );
    } else if (reader.next === '\\') {
      this.#readEscape();
    } else {
      this.#take(1);
    }
  }

  /** RFC 9535 allows escapes of control characters, which the library rejects. So they are treated like holes. */
  #readEscape(): void {
    const reader = this.#reader;
    const control = /^\\u(00[01][0-9a-fA-F])/.exec(
      reader.text.slice(reader.position, reader.position + 6),
    )?.[1];
    if (control === undefined) {
      this.#take(2);
      return;
    }
    reader.position += 6;
    const character = String.fromCharCode(Number.parseInt(control, 16));
    this.#fill(
      (literal) => literal,
      () => character,
    );
  }

  #fill(written: (literal: string) => string, hole: Evaluate): void {
    this.#jsonPath += written(`${holeMark}${this.#holes.length}${holeMark}`);
    this.#holes.push(hole);
    this.#recordPosition();
  }

  #take(characters: number): void {
    const { text, position } = this.#reader;
    this.#jsonPath += text.slice(position, position + characters);
    this.#reader.position = Math.min(position + characters, text.length);
  }

  #recordPosition(): void {
    this.#positions.push({ written: this.#reader.position, compiled: this.#jsonPath.length });
  }
}

function positionBefore(
  positions: readonly { written: number; compiled: number }[],
  position: number,
): number {
  const before = positions.findLast(({ compiled }) => compiled <= position);
  return before === undefined ? 0 : before.written + position - before.compiled;
}

/**
 * The evaluator of a literal with holes; null for one without. A literal that is only a hole keeps the type of a scalar, and
 * arrays and objects become JSON text; a hole within other text becomes text.
 */
export function filledLiteral(literal: string, holes: readonly Evaluate[]): Evaluate | null {
  if (!literal.includes(holeMark)) return null;
  // Every other piece is the number of a hole.
  const parts = literal
    .split(holeMark)
    .map((piece, index) => (index % 2 === 0 ? piece : (holes[Number(piece)] ?? '')))
    .filter((part) => part !== '');
  const [first] = parts;
  if (parts.length !== 1 || typeof first !== 'function') return (frame) => joinParts(parts, frame);
  return (frame) => {
    const value = first(frame);
    return typeof value === 'object' ? valueText(value) : value;
  };
}

/** Replaces hole marks in a message of the library, which has them raw or escaped. */
export function withoutHoleMarks(message: string): string {
  return message
    .replaceAll(`\\u${holeMark.charCodeAt(0).toString(16)}`, holeMark)
    .replace(/\udc00\d+\udc00/g, '{…}');
}
