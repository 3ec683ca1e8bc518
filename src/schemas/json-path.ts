import type { Json } from '../contract/json.ts';
import { refuseLongText } from './expression.ts';
import { parseHole } from './expression-parser.ts';
import { PathParser } from './json-path-parser.ts';
import { OutOfSteps, PathRun } from './json-path-run.ts';
import { listOf } from './member.ts';
import { Reader } from './reader.ts';
import type { Evaluate, Frame, Scope } from './scope.ts';

/** A compiled path selector (contract section 2, "dynamic and `$path`"). */
export interface PathSelector {
  /** All values selected, in order. */
  readonly list: (frame: Frame) => readonly Json[];
  /** The single value; null for none; an array for several. */
  readonly value: Evaluate;
}

/**
 * Compiles a path selector: RFC 9535 JSONPath over the names that expressions have, its leading `$.` optional. `$` is
 * `root` with those names beside its members; `$.*` and `$..x` go over the members alone, so nothing comes twice.
 * A text that is one hole alone is that hole's value.
 *
 * The npm library `jsonpath-rfc9535` is not used: 1.3.0 reads `a && b && c` as `a && (b || c)`, never matches
 * `@[0] == 1`, anchors alternatives of `match` wrongly, and runs patterns of an entity on a backtracking engine.
 * @throws SyntaxMistake
 */
export function compilePath(text: string, scope: Scope): PathSelector {
  refuseLongText(text);
  if (text.startsWith('{')) return wholeHole(new Reader(text), scope);
  const query = new PathParser(new Reader(text), scope).parseWhole();
  const list = (frame: Frame) => {
    try {
      return query.nodes(new PathRun(frame), frame.self);
    } catch (error) {
      if (error instanceof OutOfSteps) return [];
      throw error;
    }
  };
  return { list, value: (frame) => single(list(frame)) };
}

function wholeHole(reader: Reader, scope: Scope): PathSelector {
  const value = parseHole(reader, scope);
  if (!reader.atEnd) throw reader.expected('the end of the path');
  return { value, list: (frame) => listOf(value(frame)) };
}

function single(nodes: readonly Json[]): Json {
  return nodes.length > 1 ? [...nodes] : (nodes[0] ?? null);
}
