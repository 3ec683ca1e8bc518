import { reservedFields } from '../../contract/built-in-fields.ts';
import type { Cursor } from '../../contract/config-cursor.ts';
import { filledText, mapOf, objectOf, oneOf, told } from '../../contract/document-shape.ts';
import { keptCharactersMax } from '../../contract/limits.ts';
import { adviceForUnknown } from '../../lib/suggest.ts';
import { synonymsShape } from './index-texts.ts';
import { languages } from './languages.ts';

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

/** Every type that a field may have (docs/reference/indexes-and-queries.md "Field types"). */
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
    language: told('How words of a text are stemmed.', oneOf(languages)),
    foldAccents: told(
      'Words are found without their accents; "de", "da": and with ä ö ü å æ ø written out.',
      oneOf([true, false, 'de', 'da']),
    ),
    keep: told('Characters that count as letters in this field, such as "+#": C++, C#.', {
      ...filledText,
      maxLength: keptCharactersMax,
    }),
    format: told('"html": tags are no words, entities are decoded.', oneOf(['html'])),
    collation: told('A BCP 47 tag such as "da": texts are sorted in the order of this locale.', filledText),
    metadata: {},
  },
  ['type'],
);

export const indexShape = objectOf(
  {
    fields: told('Field -> its type. Each needs a property of its name.', mapOf(indexFieldShape)),
    synonyms: synonymsShape,
    metadata: {},
  },
  ['fields'],
);

/**
 * `index: {fields: {name: {type, language?, foldAccents?, keep?, format?, collation?, metadata?}}, synonyms?, metadata?}`: the types of the fields. What
 * is said about their words is read by `readIndexTexts`. That each has its property, and each property its field, is
 * checked where files are read (`config/tenant/index-properties.ts`): of a stored configuration it need not be so.
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
    at.issue(`the name ${name} is taken by Millrace`, 'Choose another name for this field.');
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
