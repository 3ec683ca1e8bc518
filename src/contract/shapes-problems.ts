/** Error bodies of each interface (docs/reference/http.md "Error bodies"). */
import type { Shape } from './shape.ts';

const status: Shape = { type: 'integer' };
const message: Shape = { type: 'string', description: 'What to change' };
const code: Shape = {
  type: 'string',
  description: 'Name of the error in the catalogue of errors; it never changes',
};
const requestId: Shape = { type: 'string', description: 'With 5xx: X-Request-Id of the response' };

export const plainProblemShape: Shape = {
  component: 'Problem',
  type: 'object',
  properties: { status, message, code, requestId },
  required: ['status', 'message', 'code'],
};

const errorCode: Shape = { type: 'string', enum: ['s-1001', 's-1007'], description: 'With 413 and 422' };

/** For endpoints that accept one entity. */
export const ingestProblemShape: Shape = {
  component: 'IngestProblem',
  type: 'object',
  properties: {
    status,
    message,
    errorCode,
    errors: { type: 'object', additionalProperties: { type: 'string' }, description: 'Field -> error' },
    code,
    requestId,
  },
  required: ['status', 'message', 'errors', 'code'],
};

/** For endpoints that accept many entities. */
export const bulkIngestProblemShape: Shape = {
  component: 'BulkIngestProblem',
  type: 'object',
  properties: {
    status,
    message,
    errorCode,
    errors: {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'string' } },
      description: 'originId or member -> errors',
    },
    code,
    requestId,
  },
  required: ['status', 'message', 'errors', 'code'],
};

export const deliveryProblemShape: Shape = {
  component: 'DeliveryProblem',
  type: 'object',
  properties: {
    meta: { type: 'object', properties: { status }, required: ['status'] },
    message,
    code,
    requestId,
  },
  required: ['meta', 'message', 'code'],
};

export const managementProblemShape: Shape = {
  component: 'ManagementProblem',
  type: 'object',
  properties: {
    status,
    message,
    errors: { type: 'array', items: { type: 'string' }, description: 'All errors' },
    code,
    requestId,
  },
  required: ['status', 'message', 'code'],
};

export const queryRefusalShape: Shape = {
  component: 'QueryRefusal',
  type: 'object',
  properties: { error: { type: 'string' }, code, requestId },
  required: ['error', 'code'],
};

export const queryProblemShape: Shape = {
  component: 'QueryProblem',
  type: 'object',
  properties: {
    message: { type: 'string', examples: ['Query is not valid'] },
    errors: { type: 'array', items: { type: 'string' }, description: 'All errors' },
    status,
    code,
  },
  required: ['message', 'errors', 'status', 'code'],
};

/** An invalid query, or a header that was sent twice. */
export const queryBadRequestShape: Shape = { anyOf: [queryProblemShape, plainProblemShape] };

const label: Shape = { type: ['string', 'null'] };

/** Errors of one of several queries have no `code`, because clients of the hosted service expect exactly its members. */
const { code: _, ...queryProblemMembers } = queryProblemShape.properties ?? {};

/** Replaces the result of an invalid query in a response to several queries. */
export const namedQueryProblemShape: Shape = {
  ...queryProblemShape,
  component: 'NamedQueryProblem',
  properties: {
    ...queryProblemMembers,
    status: { type: 'integer', enum: [400, 403, 404] },
    name: label,
    index: label,
    sourceGroupAlias: label,
    sourceEntityType: label,
  },
  required: ['message', 'errors', 'status', 'name'],
};

const multiQueryProblemShape: Shape = { type: 'array', items: namedQueryProblemShape };

/** Like `queryBadRequestShape`, for several queries. */
export const multiQueryBadRequestShape: Shape = { anyOf: [multiQueryProblemShape, plainProblemShape] };
