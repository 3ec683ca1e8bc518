import type { Cursor } from '../../contract/config-cursor.ts';
import { chain } from '../../lib/cooperative-yield.ts';
import { BodyWriter } from '../build/view-body.ts';
import { rootFrame } from '../language/scope.ts';
import { compileSchemaProperties } from '../property/property.ts';
import type { FullSchema } from '../schema.ts';
import { fullSchemaShape } from '../shapes.ts';
import { compileActions } from './actions.ts';
import { Needs, ownPlace } from './definition.ts';
import { reached } from './definition-digest.ts';
import { compileDestinations } from './destinations.ts';
import { compileRoute } from './route-claims.ts';
import type { Surroundings } from './surroundings.ts';
import { readTriggers } from './triggers.ts';

/**
 * `{triggers, route?, properties, actions?, destinations?}`: what makes a view of an entity
 * (docs/reference/mapping-language.md "Schema files").
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
