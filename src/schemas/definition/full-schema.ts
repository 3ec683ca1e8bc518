import type { Cursor } from '../../contract/config-cursor.ts';
import { chain } from '../../lib/cooperative-yield.ts';
import { quote } from '../../lib/message-text.ts';
import { BodyWriter } from '../build/view-body.ts';
import { Needs, ownPlace } from '../language/definition.ts';
import { rootFrame, type Scope } from '../language/scope.ts';
import { compileSchemaProperties } from '../property/property.ts';
import type { FullSchema } from '../schema.ts';
import { fullSchemaShape, partialSchemaShape } from '../shapes.ts';
import { compileActions } from './actions.ts';
import { type PartialDraft, reached, type Surroundings, withoutSchemaName } from './definition-digest.ts';
import { compileDestinations } from './destinations.ts';
import { compileRoute } from './route-claims.ts';
import { readTriggers } from './triggers.ts';

/**
 * `{triggers, route?, properties, actions?, destinations?}`: builds views (docs/reference/mapping-language.md "Schema files").
 */
export function compileFullSchema(alias: string, at: Cursor, surroundings: Surroundings): FullSchema {
  at.object(fullSchemaShape);
  const { partials, scope, sourceGroups } = surroundings;
  const triggers = readTriggers(at, sourceGroups);
  const claims = compileRoute(at.member('route'), scope);
  const needs = new Needs();
  const { write } = compileSchemaProperties(at.member('properties'), scope, needs, ownPlace);
  const actions = compileActions(at.member('actions'), scope);
  const destinations = compileDestinations(at.member('destinations'), scope);
  return {
    alias,
    triggers,
    ...reached(at, needs, partials),
    makesView: true,
    hasActions: !at.member('actions').isAbsent,
    claimsUrl: !at.member('route').member('url').isAbsent,
    claims: (input) => claims(rootFrame(input)),
    actions: (input) => actions(rootFrame(input)),
    destinations: at.member('destinations').isAbsent ? () => [] : (input) => destinations(rootFrame(input)),
    build: (input) => {
      const frame = rootFrame(input);
      const body = new BodyWriter(frame.build);
      return chain(write(frame, body), () => ({ body: body.finish(), ...frame.build.outcome() }));
    },
  };
}

/** `{properties, alias?}` (docs/reference/mapping-language.md "Schema files"). */
export function compilePartialSchema(alias: string, at: Cursor, scope: Scope): PartialDraft {
  at.object(partialSchemaShape);
  checkAlias(at.member('alias'), alias);
  const needs = new Needs();
  const placeOf = (below: Cursor) => `partials/${alias} ${below.path}`;
  const definition = compileSchemaProperties(at.member('properties'), scope, needs, placeOf);
  return { json: withoutSchemaName(at.json ?? null), needs, definition };
}

/** The alias of a partial is the name of its file, which the file may repeat. */
function checkAlias(at: Cursor, alias: string): void {
  const written = at.isAbsent ? alias : at.nonEmptyString();
  if (written === null || written === alias) return;
  at.warning(
    `the file name gives the partial the alias ${quote(alias)}, but "alias" is ${quote(written)}`,
    'The file name is used: rename the file, or remove this line.',
  );
}
