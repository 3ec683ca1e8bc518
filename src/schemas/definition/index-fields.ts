import type { Cursor } from '../../contract/config-cursor.ts';
import { described, mapOf, nonEmptyString, objectOf, oneOf } from '../../contract/document-shape.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import { keptCharactersMax } from '../../contract/limits.ts';
import { reservedFields } from '../../contract/query-names.ts';
import { quote } from '../../lib/message-text.ts';
import { adviceForUnknown, nearestName } from '../../lib/suggest.ts';
import { languages, synonymsShape } from './index-texts.ts';

const scalarTypes = ['keyword', 'text', 'integer', 'long', 'float', 'double', 'boolean', 'date'] as const;
const rangeTypes = ['integerRange', 'longRange', 'floatRange', 'doubleRange', 'dateRange'] as const;

const geoTypes = ['geoPoint', 'geoPoint[]'] as const;

export type ScalarFieldType = (typeof scalarTypes)[number];
export type RangeFieldType = (typeof rangeTypes)[number];
export type FieldTypeName =
  | ScalarFieldType
  | `${ScalarFieldType}[]`
  | RangeFieldType
  | (typeof geoTypes)[number]
  | 'object';

/** All field types (docs/reference/indexes-and-queries.md "Field types"). */
export const fieldTypes: readonly FieldTypeName[] = [
  ...scalarTypes,
  ...scalarTypes.map((type) => `${type}[]` as const),
  ...rangeTypes,
  ...geoTypes,
  'object',
];

const indexFieldShape = objectOf(
  {
    type: oneOf(fieldTypes),
    language: described('Language of the text, for stemming and stop words.', oneOf(languages)),
    foldAccents: described(
      'Words are found without their accents; "de", "da": and with ä ö ü å æ ø written out.',
      oneOf([true, false, 'de', 'da']),
    ),
    keep: described('Characters that count as letters in this field, such as "+#": C++, C#.', {
      ...nonEmptyString,
      maxLength: keptCharactersMax,
    }),
    format: described('"html": tags are not searched, entities are decoded.', oneOf(['html'])),
    collation: described(
      'A BCP 47 tag such as "da": strings are sorted in the order of this locale.',
      nonEmptyString,
    ),
    metadata: {},
  },
  ['type'],
);

export const indexShape = objectOf(
  {
    fields: described('Field -> its type. Each needs a property of its name.', mapOf(indexFieldShape)),
    synonyms: synonymsShape,
    metadata: {},
  },
  ['fields'],
);

/**
 * `index: {fields: {name: {type, language?, foldAccents?, keep?, format?, collation?, metadata?}}, synonyms?, metadata?}`:
 * reads the types of the fields. `readIndexTexts` reads the options for words. Whether fields and properties match is only
 * checked when files are read (`checkIndexProperties`), because a stored configuration may be older than this check.
 */
export function readIndexFields(at: Cursor): ReadonlyMap<string, FieldTypeName> {
  const fields = new Map<string, FieldTypeName>();
  if (at.object(indexShape) === null) return fields;
  const list = at.member('fields');
  if (list.anyObject('Write {"title": {"type": "text"}}.') === null) return fields;
  for (const name of list.names()) {
    const type = readField(list.member(name), name);
    if (type !== null) fields.set(name, type);
  }
  return fields;
}

function readField(at: Cursor, name: string): FieldTypeName | null {
  if (reservedFields.includes(name)) {
    at.issue(`the name ${name} is reserved`, 'Choose another name for this field.');
  }
  if (at.object(indexFieldShape) === null) return null;
  const type = at.member('type');
  const text = type.text(`Write one of ${fieldTypes.join(', ')}.`);
  if (text === null) return null;
  const known = fieldTypes.find((fieldType) => fieldType === text);
  if (known === undefined) {
    type.issue(`there is no field type ${JSON.stringify(text)}`, () => adviceForUnknown(text, fieldTypes));
  }
  return known ?? null;
}

/** A property whose members become fields, which are only known for each entity. */
const anyMembers = '*';

/**
 * Reports fields without a property, which no item would have, and properties without a field, which would be ignored. Members
 * that are not objects are reported elsewhere.
 */
export function checkIndexProperties(root: Cursor): void {
  const fields = root.member('index').member('fields');
  const properties = root.member('properties');
  if (!isJsonObject(fields.json) || !isJsonObject(properties.json)) return;
  const fieldNames = Object.keys(fields.json);
  const propertyNames = Object.keys(properties.json);
  const isField = new Set(fieldNames);
  const isProperty = new Set(propertyNames);
  const unfilled = isProperty.has(anyMembers) ? [] : fieldNames.filter((name) => !isProperty.has(name));
  const unnamed = propertyNames.filter((name) => name !== anyMembers && !isField.has(name));
  for (const name of unfilled) {
    const advice = () => `${guess(name, unnamed)}Add it to properties, or remove this field.`;
    fields.member(name).issue(`no property fills the field ${quote(name)}`, advice);
  }
  for (const name of unnamed) {
    const advice = () =>
      `${guess(name, unfilled)}Add it to index.fields with its type, or remove this property.`;
    properties.member(name).issue(`the property ${quote(name)} has no field`, advice);
  }
}

function guess(name: string, others: readonly string[]): string {
  const nearest = nearestName(name, others);
  return nearest === null ? '' : `Did you mean ${quote(nearest)}? `;
}

/** Descriptions of an index and its fields. They have no effect; tools show them. */
export interface IndexMetadata {
  readonly index: Json;
  /** Metadata of the fields that have some. */
  readonly fields: ReadonlyMap<string, Json>;
}

/** Reads `metadata` of `index` and of each of its fields, which can be any JSON. */
export function readIndexMetadata(at: Cursor): IndexMetadata {
  const list = at.member('fields');
  const fields = list.names().flatMap((name): [string, Json][] => {
    const metadata = list.member(name).member('metadata').json;
    return metadata === undefined || metadata === null ? [] : [[name, metadata]];
  });
  return { index: at.member('metadata').json ?? null, fields: new Map(fields) };
}

/** Field -> BCP 47 tag of the locale by which it is sorted. */
export type Collations = ReadonlyMap<string, string>;

const collationAdvice = 'Write a BCP 47 tag such as "da" or "de-AT".';

/** Reads `collation` of each field in `index.fields` (docs/reference/indexes-and-queries.md "Sorting"). */
export function readCollations(at: Cursor): Collations {
  const collations = new Map<string, string>();
  const fields = at.member('fields');
  for (const name of fields.names()) {
    const field = fields.member(name);
    const collation = field.member('collation');
    if (collation.isAbsent) continue;
    const { json: type } = field.member('type');
    if (type !== 'text' && type !== 'keyword') {
      collation.issue('collation needs a field of type keyword or text', 'Remove it, or change the type.');
      continue;
    }
    const tag = collation.text(collationAdvice);
    if (tag === null) continue;
    if (isKnown(tag)) collations.set(name, tag);
    else collation.issue(`there is no collation for the locale ${JSON.stringify(tag)}`, collationAdvice);
  }
  return collations;
}

/** For an unknown locale, `Intl` would use the machine's own. */
function isKnown(tag: string): boolean {
  try {
    return Intl.Collator.supportedLocalesOf(tag).length > 0;
  } catch {
    return false;
  }
}
