import type { Cursor } from '../../contract/config-cursor.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import { chain, type Resumable, repeat } from '../../lib/cooperative-yield.ts';
import { adviceForUnknown } from '../../lib/suggest.ts';
import { compilePath } from '../json-path/json-path.ts';
import {
  copyDefinition,
  type Definition,
  type DefinitionContext,
  nullDefinition,
  type Write,
} from '../language/definition.ts';
import { compileField } from '../language/expression.ts';
import { parseAt } from '../language/reader.ts';
import { Frame, isReservedName, type Scope } from '../language/scope.ts';
import { compileLookup } from '../lookup/lookup.ts';
import { arrayShape, expShape, lookupInputShape, pathInputShape, variablePattern } from '../shapes.ts';
import { listOf } from '../values.ts';

/** The input of an array. */
interface ArrayInput {
  readonly isLookup: boolean;
  readonly list: (frame: Frame) => Resumable<readonly Json[]>;
  /** The list, if it is part of the build's input. Null for lookups and paths, whose lists may be many times as large. */
  readonly whole: ((frame: Frame) => Json[]) | null;
}

const emptyInput: ArrayInput = { isLookup: false, list: () => [], whole: null };

/** `{type: "array", input, items?, var?}`; without `items` the elements are copied. */
export function compileArray(at: Cursor, context: DefinitionContext): Definition {
  if (at.object(arrayShape) === null) return nullDefinition;
  const { isLookup, list, whole } = compileInput(at.member('input'), context);
  const variable = readVariable(at.member('var'));
  const items = at.member('items');
  if (items.isAbsent)
    return whole === null ? { mayRefer: false, write: writeList(list, writeCopy) } : copyDefinition(whole);
  const item = context.inner(items, context.scope.inside(variable, isLookup));
  return {
    mayRefer: item.mayRefer,
    write: writeList(list, item.mayRefer ? followed(item.write) : item.write),
  };
}

/** Writes the frame's current value as an element. */
type WriteElement = (frame: Frame, body: Parameters<Write>[1], index: number) => Resumable<void>;

const writeCopy: WriteElement = (frame, body) => body.copy(frame.value);

function followed(write: Write): WriteElement {
  return (frame, body, index) => {
    body.enter(`[${index}]`);
    return chain(write(frame, body), () => body.leave());
  };
}

function writeList(list: ArrayInput['list'], write: WriteElement): Write {
  return (frame, body) => chain(list(frame), (values) => writeValues(frame, body, values, write));
}

function writeValues(
  frame: Frame,
  body: Parameters<Write>[1],
  values: readonly Json[],
  write: WriteElement,
): Resumable<void> {
  const inner = new Frame(frame.build, frame.self, frame);
  let written = 0;
  const writeElement = (at: number): Resumable<boolean> => {
    const value = values[at];
    if (value === undefined || body.isFull || !frame.build.spend(1)) return false;
    body.mark(at === 0 ? '[' : ',');
    inner.value = value;
    written += 1;
    return chain(write(inner, body, at), isMore);
  };
  return chain(repeat(writeElement), () => body.mark(written === 0 ? '[]' : ']'));
}

const isMore = (): boolean => true;

function readVariable(at: Cursor): string {
  const { json } = at;
  if (json === undefined) return 'item';
  if (typeof json === 'string' && variablePattern.test(json) && !isReservedName(json)) return json;
  const advice = 'Choose a name of letters, digits and _ that means nothing else in expressions.';
  at.issue('this is not a valid variable name', advice);
  return 'item';
}

function compileInput(at: Cursor, context: DefinitionContext): ArrayInput {
  if (at.isAbsent) {
    at.issue(
      'this key is missing',
      'Add what the array iterates over: `{p.tags}`, {"$path": …} or {"$lookup": …}.',
    );
    return emptyInput;
  }
  const { json } = at;
  if (isJsonObject(json) && !Object.hasOwn(json, '$exp')) return compileSource(at, context);
  const { value } = compileField(at, context.scope);
  const list = (frame: Frame) => listOf(value(frame));
  return { isLookup: false, list, whole: list };
}

function compileSource(at: Cursor, context: DefinitionContext): ArrayInput {
  const [name, ...rest] = at.names();
  if (name === '$path' && rest.length === 0) return compilePathInput(at.member('$path'), context.scope);
  if (name === '$lookup' && rest.length === 0) {
    return { isLookup: true, list: compileLookup(at.member('$lookup'), context), whole: null };
  }
  for (const unknown of at.names().filter((key) => key !== '$path' && key !== '$lookup')) {
    const known = [pathInputShape, lookupInputShape, expShape].flatMap((one) => Object.keys(one.properties));
    at.member(unknown).issue(`unknown key ${JSON.stringify(unknown)}`, () =>
      adviceForUnknown(unknown, known),
    );
  }
  at.expected('an expression, one `$path` or one `$lookup`', 'Write one of them: {"$path": "$.p.tags[*]"}.');
  return emptyInput;
}

function compilePathInput(at: Cursor, scope: Scope): ArrayInput {
  const text = at.text('Write a path such as `$.p.tags[*]`.');
  const path = text === null ? null : parseAt(at, () => compilePath(text, scope));
  return path === null ? emptyInput : { isLookup: false, list: path.list, whole: null };
}
