/** How each interface writes an error down (docs/reference/http.md "Error bodies"). */
import type { Shape } from './shape.ts';

const status: Shape = { type: 'integer' };
const message: Shape = { type: 'string', description: 'What to change' };

export const plainProblemShape: Shape = {
  component: 'Problem',
  type: 'object',
  properties: { status, message },
  required: ['status', 'message'],
};

export const ingestProblemShape: Shape = {
  component: 'IngestProblem',
  type: 'object',
  properties: {
    status,
    message,
    errorCode: { type: 'string', enum: ['s-1001', 's-1007'] },
    errors: { type: 'object', additionalProperties: { type: 'string' }, description: 'Field -> mistake' },
  },
  required: ['status', 'message', 'errorCode'],
};

export const deliveryProblemShape: Shape = {
  component: 'DeliveryProblem',
  type: 'object',
  properties: { meta: { type: 'object', properties: { status }, required: ['status'] }, message },
  required: ['meta', 'message'],
};

export const queryRefusalShape: Shape = {
  component: 'QueryRefusal',
  type: 'object',
  properties: { error: { type: 'string' } },
  required: ['error'],
};

export const queryProblemShape: Shape = {
  component: 'QueryProblem',
  type: 'object',
  properties: {
    message: { type: 'string', examples: ['Query is not valid'] },
    errors: { type: 'array', items: { type: 'string' }, description: 'Every mistake found' },
    status,
  },
  required: ['message', 'errors', 'status'],
};

export const multiQueryProblemShape: Shape = {
  type: 'array',
  items: {
    ...queryProblemShape,
    component: 'NamedQueryProblem',
    properties: { ...queryProblemShape.properties, name: { type: ['string', 'null'] } },
  },
};
