/** Requests and answers of the query interface (docs/reference/indexes-and-queries.md "The query object"). */

import { filterOperators } from './filter-operators.ts';
import {
  facetSizeDefault,
  facetSizeMax,
  pageSizeDefault,
  pageSizeMax,
  queriesPerRequestMax,
} from './limits.ts';
import type { Shape } from './shape.ts';
import { viewShape } from './shapes-read.ts';

const anyValue: Shape = {};

const conditionShape: Shape = {
  component: 'Condition',
  type: 'object',
  properties: {
    field: { type: 'string' },
    operator: { type: 'string', enum: filterOperators },
    value: { description: 'A scalar, null, or a list for `in`' },
    caseInsensitive: { type: 'boolean', description: 'Absent: false' },
  },
  required: ['field', 'operator'],
};

type GroupKind = 'and' | 'or';

function groupShape(component: string, kind: GroupKind, member: Shape, description: string): Shape {
  return {
    component,
    type: 'object',
    properties: { [kind]: { type: 'array', items: member } },
    required: [kind],
    description,
  };
}

/** A group within a group holds conditions alone. */
const innerGroupShapes: Readonly<Record<GroupKind, Shape>> = {
  and: groupShape('AndConditions', 'and', conditionShape, 'Each of the conditions holds'),
  or: groupShape('OrConditions', 'or', conditionShape, 'One of the conditions holds at least'),
};

const filtersShape: Shape = {
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
};

const queryMembers = {
  filters: filtersShape,
  search: {
    type: ['object', 'null'],
    properties: {
      field: { type: 'string' },
      value: { type: 'string' },
      literal: { type: 'boolean', description: 'Absent: false, so words may differ a little' },
    },
  },
  facets: {
    type: ['array', 'null'],
    items: {
      type: 'object',
      properties: {
        field: { type: 'string' },
        name: { type: 'string' },
        size: { type: 'integer', maximum: facetSizeMax, description: `Absent: ${facetSizeDefault}` },
      },
      required: ['field'],
    },
  },
  sort: {
    type: ['array', 'null'],
    items: {
      type: 'object',
      properties: { field: { type: 'string' }, order: { type: 'string', enum: ['asc', 'desc'] } },
    },
  },
  pagination: {
    type: ['object', 'null'],
    properties: {
      page: { type: 'integer', minimum: 0, description: 'Absent: 0' },
      pageSize: {
        type: 'integer',
        minimum: 0,
        maximum: pageSizeMax,
        description: `Absent: ${pageSizeDefault}`,
      },
      nextPageToken: { type: ['string', 'null'] },
    },
  },
} as const satisfies Record<string, Shape>;

export const queryBodyShape: Shape = {
  component: 'Query',
  type: 'object',
  properties: { ...queryMembers, aliases: { type: ['array', 'null'], items: { type: 'string' } } },
  examples: [{ filters: { and: [{ field: 'continent', operator: 'equals', value: 'Europe' }] } }],
};

export const autoQueryBodyShape: Shape = {
  component: 'SourceGroupQuery',
  type: 'object',
  properties: queryMembers,
};

export const multiQueryBodyShape: Shape = {
  type: 'array',
  maxItems: queriesPerRequestMax,
  items: {
    component: 'NamedSourceGroupQuery',
    type: 'object',
    properties: {
      sourceGroupAlias: { type: 'string' },
      sourceEntityType: { type: 'string' },
      name: { type: 'string', description: 'Labels the query' },
      ...queryMembers,
    },
    required: ['sourceGroupAlias', 'sourceEntityType'],
  },
};

const answerMembers = {
  status: { type: 'integer', examples: [200] },
  totalResults: { type: 'integer' },
  results: {
    type: 'array',
    items: {
      component: 'Row',
      type: 'object',
      properties: {
        _originId: { type: 'string' },
        _sourceGuid: { type: 'string' },
        _updatedAt: { type: 'string', format: 'date-time' },
        _score: { type: 'number' },
        _views: { type: 'object', additionalProperties: { anyOf: [viewShape, { type: 'null' }] } },
      },
      required: ['_originId', '_sourceGuid', '_updatedAt'],
      additionalProperties: true,
      description: 'Built-in members begin with an underscore; the others are the fields of the item',
    },
  },
  facets: {
    type: 'array',
    items: {
      component: 'Facet',
      type: 'object',
      properties: {
        name: { type: 'string' },
        field: { type: 'string' },
        groups: {
          type: 'array',
          items: {
            type: 'object',
            properties: { value: anyValue, count: { type: 'integer' } },
            required: ['value', 'count'],
          },
        },
        isValid: { type: 'boolean' },
      },
      required: ['name', 'field', 'groups', 'isValid'],
    },
  },
  nextPageToken: { type: ['string', 'null'] },
} as const satisfies Record<string, Shape>;

const answerRequired = ['status', 'totalResults', 'results', 'facets', 'nextPageToken'];

export const queryAnswerShape: Shape = {
  component: 'QueryResult',
  type: 'object',
  properties: answerMembers,
  required: answerRequired,
};

export const multiQueryAnswerShape: Shape = {
  type: 'array',
  items: {
    component: 'NamedQueryResult',
    type: 'object',
    properties: {
      ...answerMembers,
      sourceGroupAlias: { type: 'string' },
      sourceEntityType: { type: 'string' },
      name: { type: ['string', 'null'] },
    },
    required: [...answerRequired, 'sourceGroupAlias', 'sourceEntityType', 'name'],
  },
};
