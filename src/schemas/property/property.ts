import type { Cursor } from '../../contract/config-cursor.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import { definitionDepthMax, partialDepthMax } from '../../contract/limits.ts';
import { chain, type Resumable } from '../../lib/cooperative-yield.ts';
import { quote } from '../../lib/message-text.ts';
import { adviceForUnknown } from '../../lib/suggest.ts';
import type { BodyWriter } from '../build/view-body.ts';
import {
  CompiledPartial,
  type Definition,
  type DefinitionContext,
  type Needs,
  nullDefinition,
} from '../language/definition.ts';
import { compileRequiredField } from '../language/expression.ts';
import { Frame, type Scope } from '../language/scope.ts';
import { partialShape } from '../shapes.ts';
import { compileArray } from './array.ts';
import { compileDynamic, compileObject, compileProperties, isDynamic } from './object.ts';
import { compileReference } from './reference.ts';
import {
  compileBoolean,
  compileNumber,
  compileShorthand,
  compileString,
  constantDefinition,
} from './scalar.ts';

export type Compile = (at: Cursor, context: DefinitionContext) => Definition;

/** The property types (docs/reference/mapping-language.md "Property types"), by the value of `type`. */
const compilers: ReadonlyMap<string, Compile> = new Map([
  ['string', compileString],
  ['number', compileNumber],
  ['boolean', compileBoolean],
  ['array', compileArray],
  ['object', compileObject],
  ['reference', compileReference],
  ['partial', compilePartialUse],
  ['dynamic', compileDynamic],
]);

/**
 * Compiles the `properties` of a schema file; errors are reported through the cursor.
 * @param shorthandAt how to compile a plain string at a position; as a string property by default
 */
export function compileSchemaProperties(
  at: Cursor,
  scope: Scope,
  needs: Needs,
  placeOf: (at: Cursor) => string,
  shorthandAt: (at: Cursor) => Compile = () => compileShorthand,
): Definition {
  const inner = (below: Cursor, belowScope: Scope): Definition => {
    const context = { scope: belowScope, needs, placeOf, inner };
    if (typeof below.json === 'string') return shorthandAt(below)(below, context);
    return compileDefinition(below, context);
  };
  return compileProperties(at, { scope, needs, placeOf, inner });
}

function compileDefinition(at: Cursor, context: DefinitionContext): Definition {
  if (at.depth > definitionDepthMax) {
    at.issue('the schema is nested too deeply', 'Move the inner part into a partial.');
    return nullDefinition;
  }
  const { json } = at;
  // A literal number, boolean or null is a constant, as a plain string is.
  if (typeof json === 'number' || typeof json === 'boolean' || json === null) return constantDefinition(json);
  if (!isJsonObject(json)) {
    at.expected('a string or a property definition', 'Write {"type": "string", "value": "{p.title}"}.');
    return nullDefinition;
  }
  return isDynamic(at) ? compileDynamic(at, context) : compileTyped(at, context);
}

function compileTyped(at: Cursor, context: DefinitionContext): Definition {
  const type = at.member('type');
  if (type.isAbsent) {
    at.issue('`type` is missing', `Add one of ${[...compilers.keys()].join(', ')}.`);
    return nullDefinition;
  }
  const name = type.text(`Write one of ${[...compilers.keys()].join(', ')}.`);
  if (name === null) return nullDefinition;
  const compile = compilers.get(name);
  if (compile !== undefined) return compile(at, context);
  type.issue(`there is no property type ${JSON.stringify(name)}`, () =>
    adviceForUnknown(name, compilers.keys()),
  );
  return nullDefinition;
}

/**
 * `{type: "partial", input, alias}`. Writes null and reports a diagnostic if no partial has the alias, or if partials are
 * nested deeper than `partialDepthMax`, which only a cycle can cause.
 */
function compilePartialUse(at: Cursor, context: DefinitionContext): Definition {
  if (at.object(partialShape) === null) return nullDefinition;
  const { value: inputOf } = compileRequiredField(at.member('input'), context.scope);
  const alias = compileRequiredField(at.member('alias'), context.scope);
  if (alias.constant === null) context.needs.anyPartial = true;
  else context.needs.partials.add(alias.constant);
  const place = context.placeOf(at);
  return {
    mayRefer: true,
    write: (frame, body) => writePartial(frame, alias.text(frame), () => inputOf(frame), place, body),
  };
}

/** Writes what a partial makes of an input. @param place where the partial is used, for diagnostics */
export function writePartial(
  frame: Frame,
  name: string | null,
  inputOf: () => Json,
  place: string,
  body: BodyWriter,
): Resumable<void> {
  const { build } = frame;
  const partial = findPartial(frame, name);
  const isTooDeep = build.partialDepth >= partialDepthMax;
  if (partial === null) {
    const message = name ? `no partial is called ${quote(name)}` : 'the alias of the partial is empty';
    build.report({ kind: 'partialUnknown', place, message });
  } else if (isTooDeep) {
    build.limitReached(
      place,
      `partials are nested more than ${partialDepthMax} levels deep; deeper ones are null`,
    );
  }
  if (partial === null || isTooDeep || body.isFull || !build.spend(1)) {
    return body.value('null');
  }
  build.partialDepth += 1;
  return chain(partial.write(new Frame(build, inputOf()), body), () => {
    build.partialDepth -= 1;
  });
}

function findPartial(frame: Frame, name: string | null): CompiledPartial | null {
  const partial = name === null ? undefined : frame.build.input.partial(name);
  return partial instanceof CompiledPartial ? partial : null;
}
