/** Error bodies of each interface (docs/reference/http.md "Error bodies"). */
import { anyString, list, object, type Shape, stringOrNull, strings } from './shape.ts';

const status: Shape = { type: 'integer' };
const message: Shape = { type: 'string', description: 'What to change' };
const code: Shape = {
  type: 'string',
  description: 'Name of the error in the catalogue of errors; it never changes',
};
const requestId: Shape = { type: 'string', description: 'With 5xx: X-Request-Id of the response' };

export const plainProblemShape: Shape = {
  ...object({ status, message, code, requestId }, ['requestId']),
  component: 'Problem',
};

const errorCode: Shape = { type: 'string', enum: ['s-1001', 's-1007'], description: 'With 413 and 422' };

/** @param errors for one field, or for one of many entities */
function ofIngest(component: string, errors: Shape, description: string): Shape {
  const byName: Shape = { type: 'object', additionalProperties: errors, description };
  return {
    ...object({ status, message, errorCode, errors: byName, code, requestId }, ['errorCode', 'requestId']),
    component,
  };
}

/** For endpoints that accept one entity. */
export const ingestProblemShape = ofIngest('IngestProblem', anyString, 'Field -> error');

/** For endpoints that accept many entities. */
export const bulkIngestProblemShape = ofIngest('BulkIngestProblem', strings, 'originId or member -> errors');

export const deliveryProblemShape: Shape = {
  ...object({ meta: object({ status }), message, code, requestId }, ['requestId']),
  component: 'DeliveryProblem',
};

const allErrors: Shape = { ...strings, description: 'All errors' };

export const managementProblemShape: Shape = {
  ...object({ status, message, errors: allErrors, code, requestId }, ['errors', 'requestId']),
  component: 'ManagementProblem',
};

export const queryRefusalShape: Shape = {
  ...object({ error: anyString, code, requestId }, ['requestId']),
  component: 'QueryRefusal',
};

const queryProblemMembers = {
  message: { ...anyString, examples: ['Query is not valid'] },
  errors: allErrors,
};

export const queryProblemShape: Shape = {
  ...object({ ...queryProblemMembers, status, code }),
  component: 'QueryProblem',
};

/** An invalid query, or a header that was sent twice. */
export const queryBadRequestShape: Shape = { anyOf: [queryProblemShape, plainProblemShape] };

/**
 * Replaces the result of an invalid query in a response to several queries. It has no `code`, because clients of the hosted
 * service expect exactly its members.
 */
export const namedQueryProblemShape: Shape = {
  ...object(
    {
      ...queryProblemMembers,
      status: { type: 'integer', enum: [400, 403, 404] },
      name: stringOrNull,
      index: stringOrNull,
      sourceGroupAlias: stringOrNull,
      sourceEntityType: stringOrNull,
    },
    ['index', 'sourceGroupAlias', 'sourceEntityType'],
  ),
  component: 'NamedQueryProblem',
};

/** Like `queryBadRequestShape`, for several queries. */
export const multiQueryBadRequestShape: Shape = { anyOf: [list(namedQueryProblemShape), plainProblemShape] };
