/** Requests and answers of the query interface (specification "Query object", contract section 7). */

import { filterOperators } from './filter-operators.ts';
import {
  facetSizeDefault,
  facetSizeMax,
  pageSizeDefault,
  pageSizeMax,
  queriesPerRequestMax,
} from './limits.ts';
import type { Shape } from './shape.ts';

const anyValue: Shape = {};

const conditionShape: Shape = {
  type: 'object',
  properties: {
    field: { type: 'string' },
    operator: { type: 'string', enum: filterOperators },
    value: anyValue,
    caseInsensitive: { type: 'boolean' },
  },
  description: 'A condition, or one group of the other kind',
};

const groupShape: Shape = {
  type: ['object', 'null'],
  properties: {
    and: { type: 'array', items: conditionShape },
    or: { type: 'array', items: conditionShape },
  },
};

const queryMembers = {
  filters: groupShape,
  search: {
    type: ['object', 'null'],
    properties: {
      field: { type: 'string' },
      value: { type: 'string' },
      literal: { type: 'boolean', default: false },
    },
  },
  facets: {
    type: ['array', 'null'],
    items: {
      type: 'object',
      properties: {
        field: { type: 'string' },
        name: { type: 'string' },
        size: { type: 'integer', default: facetSizeDefault, maximum: facetSizeMax },
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
      page: { type: 'integer', minimum: 0, default: 0 },
      pageSize: { type: 'integer', minimum: 0, maximum: pageSizeMax, default: pageSizeDefault },
      nextPageToken: { type: ['string', 'null'] },
    },
  },
} as const satisfies Record<string, Shape>;

export const queryBodyShape: Shape = {
  type: 'object',
  properties: { ...queryMembers, aliases: { type: ['array', 'null'], items: { type: 'string' } } },
  examples: [{ filters: { and: [{ field: 'continent', operator: 'equals', value: 'Europe' }] } }],
};

export const autoQueryBodyShape: Shape = { type: 'object', properties: queryMembers };

export const multiQueryBodyShape: Shape = {
  type: 'array',
  maxItems: queriesPerRequestMax,
  items: {
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
      type: 'object',
      properties: {
        _originId: { type: 'string' },
        _sourceGuid: { type: 'string' },
        _updatedAt: { type: 'string', format: 'date-time' },
        _score: { type: 'number' },
        _views: { type: 'object', additionalProperties: { type: ['object', 'null'] } },
      },
      required: ['_originId', '_sourceGuid', '_updatedAt'],
    },
  },
  facets: {
    type: 'array',
    items: {
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
  type: 'object',
  properties: answerMembers,
  required: answerRequired,
};

export const multiQueryAnswerShape: Shape = {
  type: 'array',
  items: {
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
