/** JSON Schemas of expressions, lookups and property definitions (docs/reference/mapping-language.md). */
import {
  anyText,
  filledText,
  type JsonSchema,
  listOf,
  mapOf,
  objectOf,
  oneOf,
  refTo,
  told,
} from './forms.ts';

export const expression = refTo('expression');
export const properties = refTo('properties');
const definition = refTo('definition');

const expressionForm = told('A text with holes such as "{p.title}", or a literal.', {
  anyOf: [{ type: ['string', 'number', 'boolean', 'null'] }, objectOf({ $exp: anyText }, ['$exp'])],
});

/** `type` is required but for `*`. */
function typed(
  type: string,
  members: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
): JsonSchema {
  return objectOf({ type: oneOf([type]), ...members }, ['type', ...required]);
}

/** One of several members, and no two of them. */
const exactlyOne = (names: readonly string[]): JsonSchema => ({
  oneOf: names.map((name) => ({ required: [name] })),
});

const orderBy = objectOf({ property: anyText, sort: oneOf(['asc', 'desc']) }, ['property']);

const commonOfLookups = {
  orderBy,
  top: told('How many at most.', {
    anyOf: [{ type: 'number', minimum: 0 }, { type: ['boolean', 'null'] }, expression],
  }),
  source: told('Another source group.', { type: 'string', pattern: '^[^{}]*$' }),
};

const lookup: JsonSchema = {
  anyOf: [
    objectOf(
      { filter: told("type eq 'article' and properties.tag eq {p.tag}", anyText), ...commonOfLookups },
      ['filter'],
    ),
    objectOf(
      {
        operator: oneOf(['equals', 'contains']),
        sourceEntityProperty: anyText,
        matchValue: expression,
        sourceEntityType: expression,
        ...commonOfLookups,
      },
      ['operator', 'sourceEntityProperty', 'matchValue'],
    ),
  ],
};

const arrayInput: JsonSchema = {
  anyOf: [
    expression,
    objectOf({ $path: told('"$.p.tags[*]"', anyText) }, ['$path']),
    objectOf({ $lookup: refTo('lookup') }, ['$lookup']),
  ],
};

const variable: JsonSchema = { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' };

const star: JsonSchema = {
  anyOf: [
    anyText,
    { ...objectOf({ type: anyText, '*': anyText, value: anyText }), ...exactlyOne(['*', 'value']) },
  ],
};

const definitionForm: JsonSchema = {
  anyOf: [
    told('A text, or a value that is the same for every entity.', {
      type: ['string', 'number', 'boolean', 'null'],
    }),
    typed('string', { value: expression, default: expression }, ['value']),
    typed('number', { value: expression, default: expression, precision: { type: 'integer', minimum: 0 } }, [
      'value',
    ]),
    typed('boolean', { value: expression, default: expression }, ['value']),
    typed('object', { properties }, ['properties']),
    typed('array', { input: arrayInput, items: definition, var: variable }, ['input']),
    {
      ...typed(
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
      ),
      allOf: [exactlyOne(['alias', 'view']), exactlyOne(['id', 'gid', 'originId'])],
    },
    typed('partial', { alias: expression, input: expression }, ['alias', 'input']),
    { ...typed('dynamic', { '*': anyText, value: anyText }, []), ...exactlyOne(['*', 'value']) },
    told('Whatever a path selects: "$.p.content".', objectOf({ '*': anyText }, ['*'])),
  ],
};

/** What the files of schemas share. */
export const definitions: JsonSchema = {
  expression: expressionForm,
  lookup,
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
