/** Requests and responses of the query interface (docs/reference/indexes-and-queries.md "The query object"). */

import {
  chosenFieldsMax,
  facetRangesMax,
  facetSizeDefault,
  facetSizeMax,
  facetsPerQueryMax,
  highlightMarkCodePointsMax,
  pageSizeDefault,
  pageSizeMax,
  queriesPerRequestMax,
  searchBoostsMax,
  searchBoostWeightMax,
  searchCodePointsMax,
  searchFieldsMax,
  searchFuzzinessMax,
  searchWeightMax,
  sortKeysMax,
} from './limits.ts';
import { facetIntervals, filterOperators } from './query-names.ts';
import {
  anyBoolean,
  anyString,
  integer,
  list,
  object,
  type Shape,
  stringOrNull,
  strings,
  time,
  type ValueOf,
} from './shape.ts';
import { namedQueryProblemShape } from './shapes-problems.ts';
import { viewShape } from './shapes-read.ts';

const anyValue = {} as const satisfies Shape;

const latitude = { type: 'number', minimum: -90, maximum: 90 } as const;
const longitude = { type: 'number', minimum: -180, maximum: 180 } as const;

/** Values of `withinDistance` and `withinBox`, in degrees. */
export const circleShape = object({
  lat: latitude,
  lon: longitude,
  meters: { type: 'number', minimum: 0 },
});

export const boxShape = object({ north: latitude, south: latitude, east: longitude, west: longitude });

export const conditionShape = {
  component: 'Condition',
  type: 'object',
  properties: {
    field: { type: 'string' },
    operator: { type: 'string', enum: filterOperators },
    value: {
      description:
        'A scalar, null, true or false for `exists`, or a list for `in` and `notIn`; numbers and booleans can be ' +
        'strings, a list a string with commas. ' +
        `{${circleShape.required.join(', ')}} for \`withinDistance\`, {${boxShape.required.join(', ')}} for \`withinBox\``,
    },
    caseInsensitive: { type: ['boolean', 'null'], description: 'Absent: false' },
  },
  required: ['field', 'operator'],
} as const satisfies Shape;

export const groupKinds = ['and', 'or'] as const;
export type GroupKind = (typeof groupKinds)[number];

function groupShape<const Kind extends GroupKind, Member extends Shape>(
  component: string,
  kind: Kind,
  member: Member,
  description: string,
) {
  const list = { type: 'array', items: member } as const;
  const properties = { [kind]: list } as Record<Kind, typeof list>;
  return { component, type: 'object', properties, required: [kind], description } as const satisfies Shape;
}

/** A group within a group contains only conditions. */
const innerGroupShapes = {
  and: groupShape('AndConditions', 'and', conditionShape, 'Each of the conditions holds'),
  or: groupShape('OrConditions', 'or', conditionShape, 'One of the conditions holds at least'),
};

const filtersShape = {
  anyOf: [
    groupShape(
      'AndFilter',
      'and',
      { anyOf: [conditionShape, innerGroupShapes.or] },
      'Each member holds; members are conditions and groups of the other kind',
    ),
    groupShape(
      'OrFilter',
      'or',
      { anyOf: [conditionShape, innerGroupShapes.and] },
      'One member holds at least; members are conditions and groups of the other kind',
    ),
    { type: 'null' },
  ],
} as const satisfies Shape;

/** The type depends on the field. */
const rangeEndShape = {
  type: ['number', 'string', 'null'],
  description: 'A number, a date, or a whole number as a string. Absent: open',
} as const satisfies Shape;

export const facetRangeShape = {
  type: 'object',
  properties: { from: rangeEndShape, to: rangeEndShape, name: { type: ['string', 'null'] } },
} as const satisfies Shape;

export const facetShape = {
  type: 'object',
  properties: {
    field: { type: 'string' },
    name: { type: ['string', 'null'], description: 'Absent: the field' },
    size: {
      type: ['integer', 'null'],
      minimum: 0,
      maximum: facetSizeMax,
      description: `Absent or 0: ${facetSizeDefault}`,
    },
    stats: { type: ['boolean', 'null'], description: 'True: statistics of numbers or dates' },
    ranges: {
      type: ['array', 'null'],
      itemsName: 'ranges',
      maxItems: facetRangesMax,
      items: facetRangeShape,
      description: 'Groups by ranges of numbers or dates: from is inclusive, to is exclusive',
    },
    interval: { enum: [...facetIntervals, null], description: 'Groups by time intervals' },
    filter: {
      type: ['boolean', 'null'],
      description: 'False: ignores conditions on the field',
    },
  },
  required: ['field'],
} as const satisfies Shape;

export const nearShape = {
  type: ['object', 'null'],
  properties: { lat: latitude, lon: longitude },
  required: ['lat', 'lon'],
  description: 'Sorts a geoPoint by its distance from here; at most one key',
} as const satisfies Shape;

export const sortKeyShape = {
  type: 'object',
  properties: {
    field: { type: 'string' },
    order: { enum: ['asc', 'desc', 0, 1, null], description: '0 is desc, 1 is asc. Absent: asc' },
    near: nearShape,
  },
  required: ['field'],
} as const satisfies Shape;

export const searchFieldShape = {
  type: 'object',
  properties: {
    field: { type: 'string' },
    weight: {
      type: ['number', 'null'],
      exclusiveMinimum: 0,
      maximum: searchWeightMax,
      description: 'Factor for the score of this field; absent: 1',
    },
  },
  required: ['field'],
} as const satisfies Shape;

export const boostShape = {
  type: 'object',
  properties: {
    field: { type: 'string', description: 'A field of numbers or dates' },
    weight: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: searchBoostWeightMax,
      description: 'A number multiplies by 1 + weight · log10(1 + value)',
    },
    halfLife: {
      type: ['number', 'null'],
      exclusiveMinimum: 0,
      description: 'For a date: days from `origin` after which half of the boost is left',
      'x-rule': 'must be a number of days over 0',
    },
    origin: {
      type: ['string', 'null'],
      description: 'For a date: ISO 8601; absent: the time of the request',
      'x-rule': 'must be a date as ISO 8601 text',
    },
  },
  required: ['field', 'weight'],
} as const satisfies Shape;

export const searchShape = {
  type: ['object', 'null'],
  properties: {
    field: { type: ['string', 'null'] },
    value: { type: 'string', maxLength: searchCodePointsMax },
    fields: {
      type: ['array', 'null'],
      itemsName: 'fields',
      maxItems: searchFieldsMax,
      description: 'Instead of `field`: a document matches if any of them does',
      items: searchFieldShape,
    },
    literal: { type: ['boolean', 'null'], description: 'True: no typos allowed; absent: false' },
    mode: { enum: ['any', 'all', null], description: 'How many words must match; absent: any' },
    prefix: {
      type: ['boolean', 'null'],
      description: 'The last word also matches words that begin with it',
    },
    fuzziness: {
      enum: [0, 1, searchFuzzinessMax, null],
      description: 'Edits allowed for each word; absent: depends on its length',
    },
    operators: {
      type: ['boolean', 'null'],
      description:
        '`"several words"` must be next to each other, and a word or phrase after `-` must not occur',
    },
    boost: {
      type: ['array', 'null'],
      itemsName: 'boosts',
      maxItems: searchBoostsMax,
      description: 'Multiplies `_score` by a factor of a number or date of the item',
      items: boostShape,
    },
  },
  required: ['value'],
} as const satisfies Shape;

export const highlightShape = {
  type: ['object', 'null'],
  description: 'Adds `_highlights` to each item: the texts that match, with the matching words marked',
  properties: {
    fields: {
      type: ['array', 'null'],
      itemsName: 'field names',
      items: { type: 'string' },
      description: 'Absent: the searched fields',
    },
    before: {
      type: ['string', 'null'],
      maxLength: highlightMarkCodePointsMax,
      description: 'Absent: <em>',
    },
    after: {
      type: ['string', 'null'],
      maxLength: highlightMarkCodePointsMax,
      description: 'Absent: </em>',
    },
    length: {
      type: ['integer', 'null'],
      minimum: 1,
      description: 'Length in code points of a passage around the best matches; absent: whole texts',
    },
  },
} as const satisfies Shape;

export const paginationShape = {
  type: ['object', 'null'],
  properties: {
    page: { type: ['integer', 'null'], minimum: 0, description: 'Absent: 0' },
    pageSize: {
      type: ['integer', 'null'],
      minimum: 0,
      maximum: pageSizeMax,
      description: `Absent: ${pageSizeDefault}`,
    },
    nextPageToken: { type: ['string', 'null'] },
  },
} as const satisfies Shape;

const queryMembers = {
  filters: filtersShape,
  search: searchShape,
  highlight: highlightShape,
  facets: { type: ['array', 'null'], itemsName: 'facets', maxItems: facetsPerQueryMax, items: facetShape },
  sort: { type: ['array', 'null'], itemsName: 'keys', maxItems: sortKeysMax, items: sortKeyShape },
  pagination: paginationShape,
  distinct: {
    type: ['string', 'null'],
    description: 'A field: only the first item of each of its values is returned',
    'x-rule': 'must be the name of a field',
  },
  distinctFacets: {
    type: ['boolean', 'null'],
    description: 'False: facets count all matches, not only those that distinct leaves',
  },
  fields: {
    type: ['array', 'null'],
    itemsName: 'field names',
    maxItems: chosenFieldsMax,
    items: { type: 'string' },
    description: 'Fields of items to return. Absent: all',
  },
} as const satisfies Record<string, Shape>;

/** Members that only some queries have: those in a request with several queries, and those on an index. */
export const labelMemberNames = ['name', 'index', 'sourceGroupAlias', 'sourceEntityType', 'aliases'];

const aliasesShape = {
  type: ['array', 'null'],
  itemsName: 'schema aliases',
  items: { type: 'string' },
} as const satisfies Shape;

export const queryBodyShape = {
  component: 'Query',
  type: 'object',
  properties: { ...queryMembers, aliases: aliasesShape },
  examples: [{ filters: { and: [{ field: 'continent', operator: 'equals', value: 'Europe' }] } }],
} as const satisfies Shape;

export const autoQueryBodyShape = {
  component: 'SourceGroupQuery',
  type: 'object',
  properties: queryMembers,
} as const satisfies Shape;

const queryName: Shape = { type: 'string', description: 'Labels the query' };

export const sourceGroupQueriesShape: Shape = {
  type: 'array',
  maxItems: queriesPerRequestMax,
  items: {
    component: 'NamedSourceGroupQuery',
    type: 'object',
    properties: {
      sourceGroupAlias: { type: 'string' },
      sourceEntityType: { type: 'string' },
      name: queryName,
      ...queryMembers,
    },
    required: ['sourceGroupAlias', 'sourceEntityType'],
  },
};

export const indexQueriesShape: Shape = {
  type: 'array',
  maxItems: queriesPerRequestMax,
  items: {
    component: 'NamedQuery',
    type: 'object',
    properties: {
      index: { type: 'string', description: 'Alias of the index' },
      name: queryName,
      ...queryMembers,
      aliases: aliasesShape,
    },
    required: ['index'],
  },
};

/** A string is a date, or a long beyond 2^53. */
const statShape = { type: ['number', 'string', 'null'] } as const satisfies Shape;

const rowShape = {
  ...object(
    {
      _originId: anyString,
      _sourceGuid: anyString,
      _updatedAt: time,
      _score: { type: 'number' },
      _distance: {
        type: ['number', 'null'],
        description: 'Metres, if the query sorts by distance; null without a place',
      },
      _highlights: { type: 'object', additionalProperties: { anyOf: [anyString, strings] } },
      _views: { type: 'object', additionalProperties: { anyOf: [viewShape, { type: 'null' }] } },
      _viewIds: { ...strings, description: 'Ids of the views that exist' },
    },
    ['_score', '_distance', '_highlights', '_views', '_viewIds'],
  ),
  component: 'Row',
  additionalProperties: true,
  description: 'Built-in members begin with an underscore; the others are the fields of the item',
} as const satisfies Shape;

const facetAnswerShape = {
  ...object(
    {
      name: anyString,
      field: anyString,
      groups: list(
        object({ value: anyValue, from: rangeEndShape, to: rangeEndShape, count: integer }, ['from', 'to']),
      ),
      isValid: anyBoolean,
      stats: {
        ...object({ min: statShape, max: statShape, sum: statShape, mean: statShape, count: integer }, [
          'sum',
        ]),
        description: 'If requested, for numbers and dates. Dates have no sum',
      },
    },
    ['stats'],
  ),
  component: 'Facet',
} as const satisfies Shape;

const answerMembers = {
  status: { type: 'integer', enum: [0], description: '0: the query is valid' },
  totalResults: integer,
  results: list(rowShape),
  facets: list(facetAnswerShape),
  nextPageToken: stringOrNull,
} as const satisfies Record<string, Shape>;

export const queryAnswerShape = {
  ...object(answerMembers),
  component: 'QueryResult',
} as const satisfies Shape;

export type QueryAnswer = ValueOf<typeof queryAnswerShape>;

/** The response to several queries: the result or the errors of each. */
function answersShape(component: string, labels: readonly string[]): Shape {
  const named = Object.fromEntries(labels.map((label): [string, Shape] => [label, anyString]));
  const result: Shape = { ...object({ ...answerMembers, ...named, name: stringOrNull }), component };
  return list({ anyOf: [result, namedQueryProblemShape] });
}

export const sourceGroupAnswersShape = answersShape('NamedSourceGroupResult', [
  'sourceGroupAlias',
  'sourceEntityType',
]);

export const indexAnswersShape = answersShape('NamedQueryResult', ['index']);
