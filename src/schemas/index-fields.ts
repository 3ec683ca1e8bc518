import type { Cursor } from './cursor.ts';
import { adviceForUnknown } from './suggest.ts';
import type { FieldTypeName, RangeFieldType, ScalarFieldType } from './types.ts';

const scalarTypes: readonly ScalarFieldType[] = [
  'keyword',
  'text',
  'integer',
  'long',
  'float',
  'double',
  'boolean',
  'date',
];
const rangeTypes: readonly RangeFieldType[] = [
  'integerRange',
  'longRange',
  'floatRange',
  'doubleRange',
  'dateRange',
];

/** Every type that a field may have (contract section 2, "Index schema"). */
export const fieldTypes: readonly FieldTypeName[] = [
  ...scalarTypes,
  ...scalarTypes.map((type) => `${type}[]` as const),
  ...rangeTypes,
  'object',
];

/** Fields that every item has by itself (specification, "Query result"). */
const builtInFields = ['_originId', '_sourceGuid', '_updatedAt', '_score', '_views'];

/** `index: {fields: {name: {type, metadata?}}, metadata?}`, checked against the schema's `properties`. */
export function readIndexFields(at: Cursor, properties: Cursor): ReadonlyMap<string, FieldTypeName> {
  const fields = new Map<string, FieldTypeName>();
  if (at.object(['fields', 'metadata']) === null) return fields;
  const list = at.member('fields');
  if (list.expectObject('Write {"title": {"type": "text"}}.') === null) return fields;
  for (const name of list.names()) {
    const type = readField(list.member(name), name);
    if (type !== null) fields.set(name, type);
  }
  checkPairs(list, properties);
  return fields;
}

function readField(at: Cursor, name: string): FieldTypeName | null {
  if (builtInFields.includes(name)) {
    at.issue(`every item has ${name} by itself`, 'Choose another name for this field.');
  }
  if (at.object(['type', 'metadata']) === null) return null;
  const type = at.member('type');
  const text = type.expectText(`Write one of ${fieldTypes.join(', ')}.`);
  if (text === null) return null;
  const known = fieldTypes.find((fieldType) => fieldType === text);
  if (known === undefined) {
    type.issue(`there is no field type ${JSON.stringify(text)}`, adviceForUnknown(text, fieldTypes));
  }
  return known ?? null;
}

/** Each field needs a property that fills it, each property a field; with `*` the properties are not known yet. */
function checkPairs(fields: Cursor, properties: Cursor): void {
  const filled = properties.names();
  if (filled.includes('*')) return;
  const declared = fields.names();
  for (const name of declared) {
    if (filled.includes(name)) continue;
    fields
      .member(name)
      .issue('no property fills this field', `Add ${JSON.stringify(name)} to \`properties\`.`);
  }
  for (const name of filled) {
    if (declared.includes(name)) continue;
    const advice = `Add ${JSON.stringify(name)} to \`index.fields\`; type \`object\` only stores it.`;
    properties.member(name).issue('this property has no field', advice);
  }
}
