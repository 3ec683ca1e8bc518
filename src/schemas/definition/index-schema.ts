import type { Cursor } from '../../contract/config-cursor.ts';
import { isJsonObject, type Json, type JsonObject } from '../../contract/json.ts';
import { rootFrame } from '../build/build.ts';
import type { BuildInput } from '../build/input.ts';
import type { BuiltItem } from '../build/outcome.ts';
import { ItemWriter } from '../build/view-body.ts';
import type { Scope } from '../language/scope.ts';
import { viewCharactersMax } from '../limits.ts';
import { type Compile, compileSchemaProperties } from '../property/property.ts';
import { compileAnyValue, compileShorthand } from '../property/string.ts';
import type { IndexSchema } from '../schema.ts';
import { Needs, ownPlace, type Read, type Write } from './definition.ts';
import { type Partials, reachablePartials, reached } from './digest.ts';
import { type FieldTypeName, readIndexFields } from './index-fields.ts';
import { readTriggers } from './triggers.ts';

/** `{triggers, index, properties}`: what makes an item of an index of an entity (contract section 2, "Index schema"). */
export function compileIndexSchema(alias: string, at: Cursor, partials: Partials, scope: Scope): IndexSchema {
  at.object(['triggers', 'index', 'properties']);
  const triggers = readTriggers(at.member('triggers'));
  const properties = at.member('properties');
  const fields = readIndexFields(at.member('index'));
  const needs = new Needs();
  const shorthandAt = shorthandOfFields(fields, properties);
  const { read, write } = compileSchemaProperties(properties, scope, needs, ownPlace, shorthandAt);
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
