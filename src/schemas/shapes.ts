/**
 * Shapes of schema files and their parts (docs/reference/mapping-language.md). Those of indexes are in
 * `definition/index-fields.ts`.
 */
import {
  described,
  type JsonSchema,
  listOf,
  mapOf,
  nonEmptyString,
  type ObjectShape,
  objectOf,
  oneOf,
  refTo,
} from '../contract/document-shape.ts';
import { anyString } from '../contract/shape.ts';

export const expression = refTo('expression');
export const properties = refTo('properties');
const definition = refTo('definition');

export const expShape = objectOf({ $exp: anyString }, ['$exp']);

const expressionForm = described('A string with holes such as "{p.title}", or a literal.', {
  anyOf: [{ type: ['string', 'number', 'boolean', 'null'] }, expShape],
});

/** `type` is required, except for `*`. */
function typed(
  type: string,
  members: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
): ObjectShape {
  return objectOf({ type: oneOf([type]), ...members }, ['type', ...required]);
}

/** Exactly one of several members. */
const exactlyOne = (names: readonly string[]): JsonSchema => ({
  oneOf: names.map((name) => ({ required: [name] })),
});

export const orderByShape = objectOf({ property: anyString, sort: oneOf(['asc', 'desc']) }, ['property']);

const commonOfLookups = {
  orderBy: orderByShape,
  top: described('Maximum number of results.', {
    anyOf: [{ type: 'number', minimum: 0 }, { type: ['boolean', 'null'] }, expression],
  }),
  source: described('Another source group.', { type: 'string', pattern: '^[^{}]*$' }),
};

export const filterLookupShape = objectOf(
  { filter: described("type eq 'article' and properties.tag eq {p.tag}", anyString), ...commonOfLookups },
  ['filter'],
);

export const matchLookupShape = objectOf(
  {
    operator: oneOf(['equals', 'contains']),
    sourceEntityProperty: anyString,
    matchValue: expression,
    sourceEntityType: expression,
    ...commonOfLookups,
  },
  ['operator', 'sourceEntityProperty', 'matchValue'],
);

export const pathInputShape = objectOf({ $path: described('"$.p.tags[*]"', anyString) }, ['$path']);
export const lookupInputShape = objectOf({ $lookup: refTo('lookup') }, ['$lookup']);

export const variablePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;
const variable: JsonSchema = { type: 'string', pattern: variablePattern.source };

/** The property types. */
export const stringShape = typed('string', { value: expression, default: expression }, ['value']);
export const numberShape = typed(
  'number',
  { value: expression, default: expression, precision: { type: 'integer', minimum: 0 } },
  ['value'],
);
export const booleanShape = typed('boolean', { value: expression, default: expression }, ['value']);
export const objectShape = typed('object', { properties }, ['properties']);
export const arrayShape = typed(
  'array',
  {
    input: { anyOf: [expression, pathInputShape, lookupInputShape] },
    items: definition,
    var: variable,
  },
  ['input'],
);
export const referenceShape = typed(
  'reference',
  {
    alias: expression,
    view: expression,
    id: expression,
    gid: expression,
    originId: expression,
    source: expression,
  },
  [],
);
export const partialShape = typed('partial', { alias: expression, input: expression }, ['alias', 'input']);
export const dynamicShape = typed('dynamic', { '*': anyString, value: anyString }, []);

const star: JsonSchema = {
  anyOf: [
    anyString,
    { ...objectOf({ ...dynamicShape.properties, type: anyString }), ...exactlyOne(['*', 'value']) },
  ],
};

const definitionForm: JsonSchema = {
  anyOf: [
    described('A string with holes, or a constant.', {
      type: ['string', 'number', 'boolean', 'null'],
    }),
    stringShape,
    numberShape,
    booleanShape,
    objectShape,
    arrayShape,
    {
      ...referenceShape,
      allOf: [exactlyOne(['alias', 'view']), exactlyOne(['id', 'gid', 'originId'])],
    },
    partialShape,
    { ...dynamicShape, ...exactlyOne(['*', 'value']) },
    described('Whatever a path selects: "$.p.content".', objectOf({ '*': anyString }, ['*'])),
  ],
};

/** Shared by schema files. */
export const definitions: JsonSchema = {
  expression: expressionForm,
  lookup: { anyOf: [filterLookupShape, matchLookupShape] },
  properties: { type: 'object', properties: { '*': star }, additionalProperties: definition },
  definition: definitionForm,
};

export const triggers = {
  triggers: described('Source group -> entity types.', mapOf(listOf(nonEmptyString))),
  sourceEntityTypes: described('Entity types of any source group.', listOf(nonEmptyString)),
};

export const isTriggered: JsonSchema = {
  anyOf: [{ required: ['triggers'] }, { required: ['sourceEntityTypes'] }],
};

export const routeShape = objectOf({
  url: described('The URL of the view, such as "{url}".', expression),
  handles: described('Handles under which the view is served.', listOf(expression)),
});

export const actionShape = objectOf(
  { type: oneOf(['process']), alias: expression, originId: expression, source: expression },
  ['type'],
);

export const destinationShape = objectOf({ alias: nonEmptyString, options: { type: 'object' } }, ['alias']);

export const fullSchemaShape = objectOf(
  {
    ...triggers,
    route: routeShape,
    properties: described('The contents of the view.', properties),
    actions: listOf(actionShape),
    destinations: described('Webhooks that are notified of the view.', listOf(destinationShape)),
  },
  ['properties'],
);

export const partialSchemaShape = objectOf(
  { alias: described('The name of the file, without its extension.', nonEmptyString), properties },
  ['properties'],
);
