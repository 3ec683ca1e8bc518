/**
 * Shapes of schema files and of what is in them (docs/reference/mapping-language.md). Those of indexes are in
 * `definition/index-fields.ts`.
 */
import {
  anyText,
  filledText,
  type JsonSchema,
  listOf,
  mapOf,
  type ObjectShape,
  objectOf,
  oneOf,
  refTo,
  told,
} from '../contract/document-shape.ts';

export const expression = refTo('expression');
export const properties = refTo('properties');
const definition = refTo('definition');

export const expShape = objectOf({ $exp: anyText }, ['$exp']);

const expressionForm = told('A text with holes such as "{p.title}", or a literal.', {
  anyOf: [{ type: ['string', 'number', 'boolean', 'null'] }, expShape],
});

/** `type` is required but for `*`. */
function typed(
  type: string,
  members: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
): ObjectShape {
  return objectOf({ type: oneOf([type]), ...members }, ['type', ...required]);
}

/** One of several members, and no two of them. */
const exactlyOne = (names: readonly string[]): JsonSchema => ({
  oneOf: names.map((name) => ({ required: [name] })),
});

export const orderByShape = objectOf({ property: anyText, sort: oneOf(['asc', 'desc']) }, ['property']);

const commonOfLookups = {
  orderBy: orderByShape,
  top: told('How many at most.', {
    anyOf: [{ type: 'number', minimum: 0 }, { type: ['boolean', 'null'] }, expression],
  }),
  source: told('Another source group.', { type: 'string', pattern: '^[^{}]*$' }),
};

export const filterLookupShape = objectOf(
  { filter: told("type eq 'article' and properties.tag eq {p.tag}", anyText), ...commonOfLookups },
  ['filter'],
);

export const matchLookupShape = objectOf(
  {
    operator: oneOf(['equals', 'contains']),
    sourceEntityProperty: anyText,
    matchValue: expression,
    sourceEntityType: expression,
    ...commonOfLookups,
  },
  ['operator', 'sourceEntityProperty', 'matchValue'],
);

export const pathInputShape = objectOf({ $path: told('"$.p.tags[*]"', anyText) }, ['$path']);
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
export const dynamicShape = typed('dynamic', { '*': anyText, value: anyText }, []);

const star: JsonSchema = {
  anyOf: [
    anyText,
    { ...objectOf({ ...dynamicShape.properties, type: anyText }), ...exactlyOne(['*', 'value']) },
  ],
};

const definitionForm: JsonSchema = {
  anyOf: [
    told('A text, or a value that is the same for every entity.', {
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
    told('Whatever a path selects: "$.p.content".', objectOf({ '*': anyText }, ['*'])),
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
  triggers: told('Source group -> entity types.', mapOf(listOf(filledText))),
  sourceEntityTypes: told('Entity types of any source group.', listOf(filledText)),
};

export const isTriggered: JsonSchema = {
  anyOf: [{ required: ['triggers'] }, { required: ['sourceEntityTypes'] }],
};

export const routeShape = objectOf({
  url: told('Where the view is a page: "{url}".', expression),
  handles: told('Names under which it is found.', listOf(expression)),
});

export const actionShape = objectOf(
  { type: oneOf(['process']), alias: expression, originId: expression, source: expression },
  ['type'],
);

export const destinationShape = objectOf({ alias: filledText, options: { type: 'object' } }, ['alias']);

export const fullSchemaShape = objectOf(
  {
    ...triggers,
    route: routeShape,
    properties: told('What is in the view.', properties),
    actions: listOf(actionShape),
    destinations: told('Webhooks that are told of the view.', listOf(destinationShape)),
  },
  ['properties'],
);

export const partialSchemaShape = objectOf(
  { alias: told('As the file is called.', filledText), properties },
  ['properties'],
);
