import type { Cursor } from '../../contract/config-cursor.ts';
import type { EntityRef } from '../../contract/ids.ts';
import { isJsonObject, type Json, type JsonObject, setOwn } from '../../contract/json.ts';
import { isLongerThan } from '../../contract/large-json/stringify-in-parts.ts';
import {
  actionsPerBuildMax,
  destinationOptionsCharactersMax,
  handleCodePointsMax,
  handlesPerViewMax,
  urlCodePointsMax,
} from '../../contract/limits.ts';
import { pageUrlPattern } from '../../contract/shapes-ingest.ts';
import { hasMoreCodePoints } from '../../lib/code-points.ts';
import { chain, forEach, type Resumable, repeat, workBudget } from '../../lib/cooperative-yield.ts';
import { quote } from '../../lib/message-text.ts';
import type { Build } from '../build/build.ts';
import { BodyWriter } from '../build/view-body.ts';
import { Needs, ownPlace } from '../language/definition.ts';
import { compileField } from '../language/expression.ts';
import { type Evaluate, type EvaluateText, type Frame, rootFrame, type Scope } from '../language/scope.ts';
import { compileSchemaProperties } from '../property/property.ts';
import type { FullSchema, ResolvedAction, ResolvedDestination, ViewClaims } from '../schema.ts';
import { actionShape, destinationShape, fullSchemaShape, partialSchemaShape, routeShape } from '../shapes.ts';
import { type PartialDraft, reached, type Surroundings, withoutSchemaName } from './definition-digest.ts';
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

/**
 * `actions: [{type: "process", alias?, originId?, source?}]` (docs/reference/mapping-language.md "Actions"): views to
 * process again.
 */
export function compileActions(at: Cursor, scope: Scope): (frame: Frame) => ResolvedAction[] {
  if (at.isAbsent) return () => [];
  const items = at.items('a list of actions', 'Write [{"type": "process", …}].');
  const actions = items.map((item) => compileAction(item, scope));
  return (frame) => actions.flatMap((resolve) => resolve(frame)).slice(0, actionsPerBuildMax);
}

function compileAction(at: Cursor, scope: Scope): (frame: Frame) => ResolvedAction[] {
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

/** `route: {url?, handles?}` (docs/reference/mapping-language.md "Route"): compiles the URL and handles of a view. */
export function compileRoute(at: Cursor, scope: Scope): (frame: Frame) => Resumable<ViewClaims> {
  if (at.isAbsent || at.object(routeShape) === null) return () => ({ url: null, handles: [] });
  const url = at.member('url');
  const urlOf: EvaluateText = url.isAbsent ? () => null : compileField(url, scope).text;
  const handles = compileHandles(at.member('handles'), scope);
  return (frame) =>
    chain(usableHandles(handles, frame), (usable) => ({ url: usableUrl(urlOf(frame)), ...usable.claims }));
}

function compileHandles(at: Cursor, scope: Scope): Evaluate[] {
  const items = at.items('a list of expressions', 'Write ["{p.handle}"].');
  return items.map((item) => compileField(item, scope).value);
}

/** Approximate cost of adding a handle, in units of the work budget. */
const unitsPerHandle = 50;

const routable = new RegExp(pageUrlPattern);

/** Returns the URL if it can be requested, otherwise null. */
export function usableUrl(url: string | null): string | null {
  return url !== null && !hasMoreCodePoints(url, urlCodePointsMax) && routable.test(url) ? url : null;
}

/** Collects the handles of a view, without duplicates, up to the limits of number and length. */
export class UsableHandles {
  readonly #texts = new Set<string>();
  #areCut = false;

  get claims(): Pick<ViewClaims, 'handles' | 'areCut'> {
    return { handles: [...this.#texts], ...(this.#areCut ? { areCut: true } : {}) };
  }

  add(text: string): void {
    if (this.#texts.has(text)) return;
    const isRejected = this.#texts.size >= handlesPerViewMax || hasMoreCodePoints(text, handleCodePointsMax);
    if (isRejected) this.#areCut = true;
    else this.#texts.add(text);
  }
}

/** An expression that returns an array claims each of its items. */
function usableHandles(handles: readonly Evaluate[], frame: Frame): Resumable<UsableHandles> {
  const usable = new UsableHandles();
  const addItem = (item: Json): void => {
    const text = frame.build.text(item);
    workBudget.units += unitsPerHandle;
    if (text !== null && text !== '') usable.add(text);
  };
  const addAll = (at: number): Resumable<boolean> => {
    const handle = handles[at];
    if (handle === undefined) return false;
    const value = handle(frame);
    if (Array.isArray(value)) return chain(forEach(value, addItem), () => true);
    addItem(value);
    return true;
  };
  return chain(repeat(addAll), () => usable);
}

/**
 * `destinations: [{alias, options?}]` (docs/reference/mapping-language.md "Destinations"): webhooks for the views, with options
 * to send. Every string in `options` is an expression.
 */
function compileDestinations(at: Cursor, scope: Scope): (frame: Frame) => ResolvedDestination[] {
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
