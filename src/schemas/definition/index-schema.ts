import type { Cursor } from '../../contract/config-cursor.ts';
import { described, objectOf } from '../../contract/document-shape.ts';
import { chain, type Resumable } from '../../lib/cooperative-yield.ts';
import type { BuildInput } from '../build/build-input.ts';
import type { BuiltItem } from '../build/build-outcome.ts';
import { ItemWriter } from '../build/view-body.ts';
import { Needs, ownPlace, type Write } from '../language/definition.ts';
import { rootFrame } from '../language/scope.ts';
import { type Compile, compileSchemaProperties } from '../property/property.ts';
import { compileAnyValue, compileShorthand } from '../property/scalar.ts';
import type { IndexSchema } from '../schema.ts';
import { properties, triggers as triggerShapes } from '../shapes.ts';
import { type Partials, reachablePartials, reached, type Surroundings } from './definition-digest.ts';
import {
  type FieldTypeName,
  indexShape,
  readCollations,
  readIndexFields,
  readIndexMetadata,
} from './index-fields.ts';
import { readIndexTexts } from './index-texts.ts';
import { readTriggers } from './triggers.ts';

export const indexSchemaShape = objectOf(
  { ...triggerShapes, index: indexShape, properties: described('The values of the fields.', properties) },
  ['index', 'properties'],
);

/** `{triggers, index, properties}`: builds index items (docs/reference/indexes-and-queries.md "Indexes"). */
export function compileIndexSchema(alias: string, at: Cursor, surroundings: Surroundings): IndexSchema {
  at.object(indexSchemaShape);
  const { partials, scope, sourceGroups } = surroundings;
  const triggers = readTriggers(at, sourceGroups);
  const properties = at.member('properties');
  const fields = readIndexFields(at.member('index'));
  const texts = readIndexTexts(at.member('index'));
  const needs = new Needs();
  const shorthandAt = shorthandOfFields(fields, properties);
  const { write } = compileSchemaProperties(properties, scope, needs, ownPlace, shorthandAt);
  rejectReferences(properties, needs, partials);
  return {
    alias,
    triggers,
    ...reached(at, needs, partials),
    fields,
    names: [...new Set([...properties.names().filter((name) => fields.has(name)), ...fields.keys()])],
    texts,
    collations: readCollations(at.member('index')),
    metadata: readIndexMetadata(at.member('index')),
    build: (input) => buildItem(write, input),
  };
}

function buildItem(write: Write, input: BuildInput): Resumable<BuiltItem> {
  const frame = rootFrame(input);
  const body = new ItemWriter(frame.build);
  return chain(write(frame, body), () => body.item(frame.build));
}

/** For a field without text, a bare `{p.population}` means the value itself, because a string would never fit. */
function shorthandOfFields(
  fields: ReadonlyMap<string, FieldTypeName>,
  properties: Cursor,
): (at: Cursor) => Compile {
  const holdsText = (type: FieldTypeName) => type === 'keyword' || type === 'text';
  const places = [...fields]
    .filter(([, type]) => !holdsText(type))
    .map(([name]) => properties.member(name).path);
  const ofAnyValue = new Set(places);
  // Comparing depths first avoids computing the paths of deeper properties, which may be long and many.
  const depth = properties.depth + 1;
  return (at) => (at.depth === depth && ofAnyValue.has(at.path) ? compileAnyValue : compileShorthand);
}

/** Index items cannot have references, because they are not resolved for them. */
function rejectReferences(properties: Cursor, needs: Needs, partials: Partials): void {
  const advice = 'Store the id or the value that you want to query instead.';
  for (const place of needs.references) place.issue('an index item cannot contain a reference', advice);
  const reachable = reachablePartials(needs, partials);
  // If an expression names a partial, the partial is only known at run time. Its references become null.
  if (needs.anyPartial || reachable.some((alias) => partials.get(alias)?.needs.anyPartial)) return;
  for (const alias of reachable) {
    const [place] = partials.get(alias)?.needs.references ?? [];
    if (place === undefined) continue;
    properties.issue(`the partial ${JSON.stringify(alias)} has a reference, at ${place.path}`, advice);
  }
}
