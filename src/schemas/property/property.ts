import type { Cursor } from '../../contract/config-cursor.ts';
import { isJsonObject } from '../../contract/json.ts';
import { definitionDepthMax } from '../../contract/limits.ts';
import { adviceForUnknown } from '../../lib/suggest.ts';
import {
  type Definition,
  type DefinitionContext,
  type Needs,
  nullDefinition,
} from '../language/definition.ts';
import type { Scope } from '../language/scope.ts';
import { compileArray } from './array.ts';
import { compileDynamic, compileObject, compileProperties, isDynamic } from './object.ts';
import { compilePartialUse } from './partial.ts';
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
