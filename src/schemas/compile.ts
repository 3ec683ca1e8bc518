import { isJsonObject, type Json, type JsonObject } from '../contract/json.ts';
import { Build } from './build/build.ts';
import type { BuildInput } from './build/input.ts';
import type { BuiltItem } from './build/outcome.ts';
import { BodyWriter, ItemWriter } from './build/view-body.ts';
import { compileActions } from './definition/actions.ts';
import { type Definition, Needs, type Read, type Write } from './definition/definition.ts';
import { digestOf, type PartialSource, reachablePartials } from './definition/digest.ts';
import type { FieldTypeName } from './definition/index-fields.ts';
import { readIndexFields } from './definition/index-fields.ts';
import { CompiledPartial } from './definition/partial.ts';
import { compileRoute } from './definition/route-claims.ts';
import { readTriggers } from './definition/triggers.ts';
import { Cursor, type Report } from './language/cursor.ts';
import { Frame, Scope } from './language/scope.ts';
import { viewCharactersMax } from './limits.ts';
import type { LookupPlan } from './lookup/plan.ts';
import { type Compile, compileSchemaProperties } from './property/property.ts';
import { compileAnyValue, compileShorthand } from './property/string.ts';
import type { CompiledSchemas, FullSchema, IndexSchema, PathObserver, SchemaSources } from './schema.ts';

/** A partial that is compiled but for its digest, which needs all partials. */
interface PartialDraft extends PartialSource {
  readonly definition: Definition;
}

type Partials = ReadonlyMap<string, PartialDraft>;

/** What names mean at the top of a schema, and of a partial. */
interface Scopes {
  readonly entity: Scope;
  readonly partial: Scope;
}

/**
 * Compiles the schema files of one tenant. Every mistake is reported, none stops the others from being found; with
 * mistakes around, the result is of no use.
 * @param observer hears what the paths of expressions give; null costs builds nothing
 */
export function compileSchemas(
  sources: SchemaSources,
  report: Report,
  observer: PathObserver | null = null,
): CompiledSchemas {
  const scopes = {
    entity: Scope.entity.observedBy(observer),
    partial: Scope.partial.observedBy(observer),
  };
  const partials = new Map<string, PartialDraft>();
  for (const [alias, { file, json }] of sources.partials) {
    partials.set(alias, compilePartial(alias, rootCursor(file, json, report), scopes));
  }
  return {
    schemas: mapEntries(sources.schemas, (alias, { file, json }) => {
      return compileFull(alias, rootCursor(file, json, report), partials, scopes);
    }),
    partials: mapEntries(partials, (alias, { json, needs, definition }) => {
      const digest = digestOf(json, reachablePartials(needs, partials), partials);
      return new CompiledPartial(alias, digest, definition);
    }),
    indexes: mapEntries(sources.indexes, (alias, { file, json }) => {
      return compileIndex(alias, rootCursor(file, json, report), partials, scopes);
    }),
  };
}

function rootCursor(file: string, json: Json, report: Report): Cursor {
  return new Cursor(file, '$', json, report);
}

function mapEntries<T, U>(
  map: ReadonlyMap<string, T>,
  change: (alias: string, thing: T) => U,
): Map<string, U> {
  return new Map([...map].map(([alias, thing]) => [alias, change(alias, thing)]));
}

const ownPlace = (at: Cursor): string => at.path;

function compilePartial(alias: string, at: Cursor, scopes: Scopes): PartialDraft {
  at.object(['properties']);
  const needs = new Needs();
  const placeOf = (below: Cursor) => `partials/${alias} ${below.path}`;
  const definition = compileSchemaProperties(at.member('properties'), scopes.partial, needs, placeOf);
  return { json: at.json ?? null, needs, definition };
}

function compileFull(alias: string, at: Cursor, partials: Partials, scopes: Scopes): FullSchema {
  at.object(['triggers', 'route', 'properties', 'actions']);
  const triggers = readTriggers(at.member('triggers'));
  const claims = compileRoute(at.member('route'), scopes.entity);
  const needs = new Needs();
  const { write } = compileSchemaProperties(at.member('properties'), scopes.entity, needs, ownPlace);
  const actions = compileActions(at.member('actions'), scopes.entity);
  return {
    alias,
    triggers,
    ...reached(at, needs, partials),
    claimsUrl: !at.member('route').member('url').isAbsent,
    claims: (input) => claims(rootFrame(input)),
    actions: at.member('actions').isAbsent ? () => [] : (input) => actions(rootFrame(input)),
    build: (input) => {
      const frame = rootFrame(input);
      const body = new BodyWriter(frame.build);
      write(frame, body);
      return { body: body.finish(), ...frame.build.outcome() };
    },
  };
}

function compileIndex(alias: string, at: Cursor, partials: Partials, scopes: Scopes): IndexSchema {
  at.object(['triggers', 'index', 'properties']);
  const triggers = readTriggers(at.member('triggers'));
  const properties = at.member('properties');
  const fields = readIndexFields(at.member('index'));
  const needs = new Needs();
  const shorthandAt = shorthandOfFields(fields, properties);
  const { read, write } = compileSchemaProperties(properties, scopes.entity, needs, ownPlace, shorthandAt);
  refuseReferences(properties, needs, partials);
  const isInOrder = keepsOrder(properties.json ?? null) && needsNoPartial(needs, partials);
  return {
    alias,
    triggers,
    ...reached(at, needs, partials),
    fields,
    build: (input) =>
      (isInOrder && read !== undefined ? readItem(read, input) : null) ?? parsedItem(write, input, isInOrder),
  };
}

/** Null for an item that only its text can tell, or that a limit may cut. */
function readItem(read: Read, input: BuildInput): BuiltItem | null {
  const frame = rootFrame(input);
  const fields = read(frame);
  if (!isJsonObject(fields)) return null;
  const fieldsText = JSON.stringify(fields);
  return fieldsText.length > viewCharactersMax ? null : { fields, fieldsText, ...frame.build.outcome() };
}

function parsedItem(write: Write, input: BuildInput, isInOrder: boolean): BuiltItem {
  const frame = rootFrame(input);
  const body = new ItemWriter(frame.build);
  write(frame, body);
  const text = body.finish().texts.join('');
  const fields: JsonObject = JSON.parse(text);
  return { fields, fieldsText: isInOrder ? text : null, ...frame.build.outcome() };
}

const movingName = /^(?:\*|[0-9]+)$/;

/** False when parsing may move members of what the schema writes: names that are numbers come first, `*` may bring such. */
function keepsOrder(schema: Json): boolean {
  if (Array.isArray(schema)) return schema.every(keepsOrder);
  if (!isJsonObject(schema)) return true;
  return Object.entries(schema).every(([name, below]) => !movingName.test(name) && keepsOrder(below));
}

function needsNoPartial(needs: Needs, partials: Partials): boolean {
  return !needs.anyPartial && reachablePartials(needs, partials).length === 0;
}

/**
 * A bare `{p.population}` for a field that holds no text means the value itself: as a text it could never fit.
 */
function shorthandOfFields(
  fields: ReadonlyMap<string, FieldTypeName>,
  properties: Cursor,
): (at: Cursor) => Compile {
  const holdsText = (type: FieldTypeName) => type === 'keyword' || type === 'text';
  const places = [...fields]
    .filter(([, type]) => !holdsText(type))
    .map(([name]) => properties.member(name).path);
  const ofAnyValue = new Set(places);
  return (at) => (ofAnyValue.has(at.path) ? compileAnyValue : compileShorthand);
}

function rootFrame(input: BuildInput): Frame {
  const build = new Build(input);
  return new Frame(build, build.root);
}

function reached(
  at: Cursor,
  needs: Needs,
  partials: Partials,
): { digest: string; lookupPlans: readonly LookupPlan[] } {
  const reachable = reachablePartials(needs, partials);
  const below = reachable.flatMap((alias) => partials.get(alias)?.needs.lookupPlans ?? []);
  return {
    digest: digestOf(at.json ?? null, reachable, partials),
    lookupPlans: [...needs.lookupPlans, ...below],
  };
}

/** Items are values: there is nobody who would put a view in them. */
function refuseReferences(properties: Cursor, needs: Needs, partials: Partials): void {
  const advice = 'Store the id or the value that you want to query instead.';
  for (const place of needs.references) place.issue('an index item cannot hold a reference', advice);
  const reachable = reachablePartials(needs, partials);
  // Which partial an expression names is known at run time alone; a reference gives null then.
  if (needs.anyPartial || reachable.some((alias) => partials.get(alias)?.needs.anyPartial)) return;
  for (const alias of reachable) {
    const [place] = partials.get(alias)?.needs.references ?? [];
    if (place === undefined) continue;
    properties.issue(`the partial ${JSON.stringify(alias)} has a reference, at ${place.path}`, advice);
  }
}
