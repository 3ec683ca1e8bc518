/** The ingest interface (docs/reference/http.md "Saving one entity"). */
import type { Json } from '../../../contract/json.ts';
import { bulkEntitiesMax, managementPageDefault, managementPageMax } from '../../../contract/limits.ts';
import {
  acceptedShape,
  bulkAnswerShape,
  bulkBodyShape,
  bulkDeleteAnswerShape,
  bulkDeleteBodyShape,
  entityBodyShape,
  entityV1Shape,
  listedEntitiesShape,
  originIdShape,
} from '../../../contract/shapes-ingest.ts';
import { bulkIngestProblemShape } from '../../../contract/shapes-problems.ts';
import {
  type AnswerDefinition,
  type Endpoints,
  inPath,
  inQuery,
  minVersion,
  plainHeader,
  prefixedHeader,
} from '../../route-definition.ts';

const forceType = prefixedHeader('Force-Type', '`true`, `TRUE` or `1` lets the entity change its type');
const version = prefixedHeader(
  'Version',
  'Opaque token of the state that includes this write; see Min-Version',
);

const visible = prefixedHeader(
  'Visible',
  'With Wait: `true` when everything that this write caused is visible on this front, otherwise `false`',
);
const wait = prefixedHeader(
  'Wait',
  'Milliseconds, 0 to 5,000: how long to wait until everything that this write causes is visible on this front; see Visible',
);

const trace = plainHeader('traceparent', 'W3C Trace Context, passed on to webhooks');

const accepted = (message: string): AnswerDefinition => ({
  description: 'The write is durable, in order for its entity, and will be processed',
  shape: acceptedShape,
  example: { status: 200, message },
  headers: [version, visible],
});

const originIdParameter = inPath('originId', 'Percent-encoded', {
  shape: originIdShape,
});

const bulkExample: Json = [
  {
    originId: 'country-fr',
    type: 'country',
    url: '/europe/france',
    redirects: ['/countries/FR'],
    properties: { title: 'France' },
  },
];
const bulkAnswerExample: Json = {
  status: 200,
  changedSourceEntities: ['country-fr'],
  unchangedSourceEntities: [],
  errors: {},
  ingestMetadata: {
    ingestVersion: 'v2',
    ingestFormat: 'bulk',
    systemInfo: null,
    forceTypeOverwrite: false,
  },
};

export const ingestEndpoints = {
  saveEntities: {
    method: 'post',
    path: '/ingest/v2',
    tag: 'ingest',
    summary: `Save up to ${bulkEntitiesMax} entities`,
    access: { kind: 'source' },
    problems: 'bulkIngest',
    parameters: [],
    headers: [
      forceType,
      wait,
      trace,
      prefixedHeader('System-Information', 'Returned as ingestMetadata.systemInfo'),
    ],
    body: { shape: bulkBodyShape, description: 'At most 209,715,200 bytes', example: bulkExample },
    answers: {
      200: {
        description: 'At least one entity was valid',
        shape: bulkAnswerShape,
        example: bulkAnswerExample,
        headers: [version, visible],
      },
      422: {
        description: 'No entity was valid, or the request as a whole is invalid',
        shape: { anyOf: [bulkAnswerShape, bulkIngestProblemShape] },
      },
    },
    problemStatuses: [401, 403, 408, 413, 422, 429, 500, 503],
  },
  saveEntity: {
    method: 'post',
    path: '/ingest/v2/{originId}',
    takesSlashes: true,
    tag: 'ingest',
    summary: 'Save one entity, raw (with the Type header) or simplified',
    access: { kind: 'source' },
    problems: 'ingest',
    parameters: [originIdParameter],
    headers: [
      forceType,
      wait,
      trace,
      prefixedHeader('Type', 'Makes the body raw: only the properties'),
      prefixedHeader('Url', 'Raw form: the url'),
      prefixedHeader('OriginParentId', 'Raw form: originId of the parent'),
      prefixedHeader('Publish-At', 'Raw form: `publishAt`'),
      prefixedHeader('Unpublish-At', 'Raw form: `unpublishAt`'),
      prefixedHeader(
        'Redirects',
        'Raw form: redirect URLs, separated by commas; a comma inside a URL is %2C',
      ),
    ],
    body: {
      shape: entityBodyShape,
      description: 'Simplified form; in raw form only the properties. At most 5,242,880 bytes',
      example: { type: 'country', url: '/europe/france', properties: { title: 'France' } },
    },
    answers: { 200: accepted('Processing of the entity has begun') },
    problemStatuses: [401, 403, 408, 413, 422, 429, 500, 503],
  },
  deleteEntity: {
    method: 'delete',
    path: '/ingest/v2/{originId}',
    takesSlashes: true,
    tag: 'ingest',
    summary: 'Delete one entity',
    access: { kind: 'source' },
    problems: 'ingest',
    parameters: [originIdParameter],
    headers: [wait, trace],
    answers: { 200: accepted('Deletion of the entity has begun') },
    problemStatuses: [401, 403, 404, 422, 429, 500, 503],
  },
  deleteEntities: {
    method: 'delete',
    path: '/ingest/v2',
    tag: 'ingest',
    summary: `Delete up to ${bulkEntitiesMax} entities`,
    access: { kind: 'source' },
    problems: 'bulkIngest',
    parameters: [],
    headers: [wait, trace],
    body: { shape: bulkDeleteBodyShape, example: { originIds: ['country-fr', 'country-xx'] } },
    answers: {
      200: {
        description: 'Which entities existed',
        shape: bulkDeleteAnswerShape,
        example: {
          status: 200,
          deletedSourceEntities: ['country-fr'],
          notFoundSourceEntities: ['country-xx'],
          errors: {},
        },
        headers: [version, visible],
      },
      422: {
        description: 'No originId was valid, or the request as a whole is invalid',
        shape: { anyOf: [bulkDeleteAnswerShape, bulkIngestProblemShape] },
      },
    },
    problemStatuses: [401, 403, 408, 413, 422, 429, 500, 503],
  },
  listEntities: {
    method: 'get',
    path: '/ingest/entities',
    tag: 'ingest',
    summary: 'OriginIds of the entities of the source, in code-point order',
    access: { kind: 'source' },
    problems: 'ingest',
    parameters: [
      inQuery('type', 'Only entities of this type'),
      inQuery('first', 'Page size', {
        shape: { type: 'integer', minimum: 1, maximum: managementPageMax, default: managementPageDefault },
      }),
      inQuery('after', '`next` of the previous page'),
    ],
    headers: [minVersion],
    answers: {
      200: {
        description: 'A page of processed entities',
        shape: listedEntitiesShape,
        example: { status: 200, originIds: ['country-fr'], next: null },
      },
    },
    problemStatuses: [401, 403, 422, 429, 500, 503],
  },
  saveEntityV1: {
    method: 'post',
    path: '/ingest/v1',
    tag: 'ingest',
    summary: 'Save one entity with typed properties',
    access: { kind: 'source' },
    problems: 'ingest',
    parameters: [],
    headers: [forceType, wait, trace],
    body: {
      shape: entityV1Shape,
      description:
        'Stored as plain JSON. Members of typed properties can begin with an upper-case letter. At most 5,242,880 bytes',
      example: {
        id: 'country-fr',
        type: 'country',
        url: '/europe/france',
        properties: { title: { type: 'string', value: 'France' } },
      },
    },
    answers: { 200: accepted('Processing of the entity has begun') },
    problemStatuses: [401, 403, 408, 413, 422, 429, 500, 503],
  },
  deleteEntityV1: {
    method: 'delete',
    path: '/ingest/v1',
    tag: 'ingest',
    summary: 'Delete one entity by a query parameter',
    access: { kind: 'source' },
    problems: 'ingest',
    parameters: [inQuery('id', 'originId of the entity', { shape: originIdShape, required: true })],
    headers: [wait, trace],
    answers: { 200: accepted('Deletion of the entity has begun') },
    problemStatuses: [401, 403, 404, 422, 429, 500, 503],
  },
} satisfies Endpoints;
