import { JSONPathEnvironment, JSONPathError, type JSONPathQuery, TokenKind } from 'json-p3';
import type { Json } from '../../contract/json.ts';
import { chain, type Resumable } from '../../lib/cooperative-yield.ts';
import { adviceForUnknown } from '../../lib/suggest.ts';
import { parseHole, rejectLongText } from '../language/expression.ts';
import { Reader, type SchemaSyntaxError } from '../language/reader.ts';
import type { Frame, Scope } from '../language/scope.ts';
import { listOf } from '../values.ts';
import { compileQuery, type Select } from './query.ts';
import { within } from './run.ts';
import { type PathText, readPathText, withoutHoleMarks } from './text.ts';

const library = new JSONPathEnvironment();

/** A compiled path selector (docs/reference/mapping-language.md "Paths"). */
export interface PathSelector {
  /** All selected values, in order. */
  readonly list: (frame: Frame) => Resumable<readonly Json[]>;
  /** The single value, null for none, or an array of several. */
  readonly value: (frame: Frame) => Resumable<Json>;
}

/**
 * Compiles a path selector: RFC 9535 JSONPath with the names of expressions, and an optional leading `$.`. `$` is `root`, with
 * these names in addition to its members; `$.*` and `$..x` only visit the members, so that there are no duplicates. A text that
 * is only a hole selects its value.
 *
 * The library `json-p3` parses the path and checks its types. `query.ts` evaluates it, because evaluation in the library cannot
 * be paused or limited, supports neither names nor holes, and differs from RFC 9535 in comparisons.
 * @throws SchemaSyntaxError
 */
export function compilePath(text: string, scope: Scope): PathSelector {
  rejectLongText(text);
  const reader = new Reader(text);
  if (text.startsWith('{')) return wholeHole(reader, scope);
  const query = parsedQuery(reader, scope);
  const list = (frame: Frame) => within(frame, (run) => query(frame.self, run));
  return { list, value: (frame) => chain(list(frame), single) };
}

function wholeHole(reader: Reader, scope: Scope): PathSelector {
  const value = parseHole(reader, scope);
  if (!reader.atEnd) throw reader.expected('the end of the path');
  return { value, list: (frame) => listOf(value(frame)) };
}

function parsedQuery(reader: Reader, scope: Scope): Select {
  const path = readPathText(reader, scope);
  return compileQuery(parse(reader, path), '$', {
    holes: path.holes,
    find: (name) => scope.find(name),
    unknownName: (name, position) => unknownName(reader, path, scope, name, position),
    notAnOperand: (position) =>
      reader.syntaxError(
        'a comparison needs a literal, a function or a path on each side',
        'Join comparisons with `&&` or `||`.',
        Math.min(path.originalPosition(position), reader.text.length),
      ),
  });
}

/** @throws SchemaSyntaxError */
function parse(reader: Reader, path: PathText): JSONPathQuery {
  try {
    return library.compile(path.jsonPath);
  } catch (error) {
    if (error instanceof JSONPathError) throw syntaxErrorOf(error, reader, path);
    throw error;
  }
}

function syntaxErrorOf(error: JSONPathError, reader: Reader, path: PathText): SchemaSyntaxError {
  const { token } = error;
  const position = Math.min(path.originalPosition(token.index), reader.text.length);
  const found = token.kind === TokenKind.ERROR ? token.value : readable(error.message);
  // At the end of the input, the library may report that it cannot step back.
  const message = found.startsWith("can't backup") ? 'the path ends too early' : found;
  return reader.syntaxError(message, 'Write a JSONPath (RFC 9535) such as `$.p.tags[*]`.', position);
}

/** Removes the excerpt and position from an error message of the library, because they refer to the text with hole marks. */
function readable(message: string): string {
  return withoutHoleMarks(message)
    .replace(/ \('.{0,9}':\d+\)$/s, '')
    .replace(/TOKEN_([A-Z_]+)/g, (_, kind: string) => kind.toLowerCase().replaceAll('_', ' '));
}

function unknownName(
  reader: Reader,
  path: PathText,
  scope: Scope,
  name: string,
  position: number,
): SchemaSyntaxError {
  const advice = `A property of the entity is written \`$.p.${name}\`. ${adviceForUnknown(name, scope.names)}`;
  return reader.syntaxError(`unknown name \`${name}\``, advice, path.originalPosition(position));
}

function single(nodes: readonly Json[]): Json {
  return nodes.length > 1 ? [...nodes] : (nodes[0] ?? null);
}
