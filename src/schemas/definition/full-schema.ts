import type { Cursor } from '../../contract/config-cursor.ts';
import type { EntityRef } from '../../contract/ids.ts';
import type { Json } from '../../contract/json.ts';
import { actionsPerBuildMax } from '../../contract/limits.ts';
import { chain } from '../../lib/cooperative-yield.ts';
import { quote } from '../../lib/message-text.ts';
import type { Build } from '../build/build.ts';
import { BodyWriter } from '../build/view-body.ts';
import { Needs, ownPlace } from '../language/definition.ts';
import { compileField } from '../language/expression.ts';
import { type Evaluate, type EvaluateText, type Frame, rootFrame, type Scope } from '../language/scope.ts';
import { compileSchemaProperties } from '../property/property.ts';
import type { FullSchema, ResolvedAction } from '../schema.ts';
import { actionShape, fullSchemaShape, partialSchemaShape } from '../shapes.ts';
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

type Resolve = (frame: Frame) => ResolvedAction[];

/**
 * `actions: [{type: "process", alias?, originId?, source?}]` (docs/reference/mapping-language.md "Actions"): views to
 * process again.
 */
export function compileActions(at: Cursor, scope: Scope): Resolve {
  if (at.isAbsent) return () => [];
  const items = at.items('a list of actions', 'Write [{"type": "process", …}].');
  const actions = items.map((item) => compileAction(item, scope));
  return (frame) => actions.flatMap((resolve) => resolve(frame)).slice(0, actionsPerBuildMax);
}

function compileAction(at: Cursor, scope: Scope): Resolve {
  if (at.object(actionShape) === null) return () => [];
  if (at.member('type').json !== 'process') at.member('type').expected('`process`', 'It is the only action.');
  const alias = optionalString(at.member('alias'), scope);
  const source = optionalString(at.member('source'), scope);
  const originId = at.member('originId');
  const originIds: Evaluate = originId.isAbsent ? ownOriginId : compileField(originId, scope).value;
  return (frame) => {
    const sourceId = sourceOf(frame.build, source, frame);
    const entities = entitiesOf(originIds(frame), sourceId, frame.build);
    return entities.map((entity) => ({ ...entity, alias: alias?.(frame) || null }));
  };
}

const ownOriginId: Evaluate = ({ build }) => build.input.entity.originId;

function optionalString(at: Cursor, scope: Scope): EvaluateText | null {
  return at.isAbsent ? null : compileField(at, scope).text;
}

/** The source of the entities; null if the named group has none in this environment. */
function sourceOf({ input }: Build, source: EvaluateText | null, frame: Frame): string | null {
  if (source === null) return input.entity.sourceId;
  return input.resolveSource(source(frame) ?? '');
}

/** An array means several entities; null and empty values are skipped. */
function entitiesOf(value: Json, sourceId: string | null, build: Build): EntityRef[] {
  if (sourceId === null) return [];
  const entities: EntityRef[] = [];
  for (const item of Array.isArray(value) ? value : [value]) {
    const originId = build.text(item);
    if (originId) entities.push({ sourceId, originId });
    if (entities.length === actionsPerBuildMax) break;
  }
  return entities;
}
