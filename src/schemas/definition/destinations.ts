import type { Cursor } from '../../contract/config-cursor.ts';
import { isJsonObject, type Json, type JsonObject, setOwn } from '../../contract/json.ts';
import { isLongerThan } from '../../contract/large-json/stringify-in-parts.ts';
import { destinationOptionsCharactersMax } from '../../contract/limits.ts';
import { quote } from '../../lib/message-text.ts';
import { compileField } from '../language/expression.ts';
import type { Evaluate, Frame, Scope } from '../language/scope.ts';
import type { ResolvedDestination } from '../schema.ts';
import { destinationShape } from '../shapes.ts';

type Resolve = (frame: Frame) => ResolvedDestination[];

/**
 * `destinations: [{alias, options?}]` (docs/reference/mapping-language.md "Destinations"): webhooks for the views, with options
 * to send. Every string in `options` is an expression.
 */
export function compileDestinations(at: Cursor, scope: Scope): Resolve {
  const items = at.items('a list of destinations', 'Write [{"alias": "search"}].');
  const seen = new Set<string>();
  const destinations = items.flatMap((item) => compileDestination(item, scope, seen) ?? []);
  return (frame) => destinations.map(({ alias, options }) => destinationWith(alias, options(frame)));
}

/** A destination with its options, which are left out if they are too long. */
export function destinationWith(alias: string, options: JsonObject): ResolvedDestination {
  const areCut = isLongerThan(options, destinationOptionsCharactersMax);
  return areCut ? { alias, options: {}, areCut } : { alias, options };
}

function compileDestination(at: Cursor, scope: Scope, seen: Set<string>) {
  if (at.object(destinationShape) === null) return null;
  const options = compileOptions(at.member('options'), scope);
  const alias = at.member('alias').nonEmptyString();
  if (alias === null) return null;
  if (seen.has(alias)) {
    at.member('alias').issue(
      `the destination ${quote(alias)} appears twice`,
      'Keep one of them, with the options of both.',
    );
  }
  seen.add(alias);
  return { alias, options };
}

function compileOptions(at: Cursor, scope: Scope): (frame: Frame) => JsonObject {
  if (at.isAbsent || at.anyObject('Write {"objectId": "{originId}"}.') === null) return () => ({});
  return compileMembers(at, scope);
}

function compileMembers(at: Cursor, scope: Scope): (frame: Frame) => JsonObject {
  const members = at.names().map((name) => [name, compileValue(at.member(name), scope)] as const);
  return (frame) => {
    const values: JsonObject = {};
    for (const [name, evaluate] of members) setOwn(values, name, evaluate(frame));
    return values;
  };
}

/** Any JSON, where every string is an expression. */
function compileValue(at: Cursor, scope: Scope): Evaluate {
  if (Array.isArray(at.json)) {
    const items = at.items().map((item) => compileValue(item, scope));
    return (frame): Json => items.map((evaluate) => evaluate(frame));
  }
  const isExpression = !isJsonObject(at.json) || Object.hasOwn(at.json, '$exp');
  return isExpression ? compileField(at, scope).value : compileMembers(at, scope);
}
