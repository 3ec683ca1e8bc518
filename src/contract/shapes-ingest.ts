/** Requests and responses of the ingest interface (docs/reference/http.md "Saving many entities"). */
import {
  bulkEntitiesMax,
  entityTypeCodePointsMax,
  originIdCodePointsMax,
  redirectsMax,
  urlCodePointsMax,
} from './limits.ts';
import { anyBoolean, anyString, list, object, type Shape, stringOrNull, strings } from './shape.ts';

export const originIdShape = {
  type: 'string',
  minLength: 1,
  maxLength: originIdCodePointsMax,
  description: 'Id of the entity in its source',
  examples: ['city-42'],
} as const satisfies Shape;

/** A host name or an address in brackets, after a user name and before a port. */
const authority = '(?:[^/?#]*@)?(?:\\[[0-9a-fA-F:.]+\\]|[^/?#@:*%\\s\\\\[\\]]+)(?::[0-9]{0,5})?';

/**
 * A URL of a page. Without a fragment, which is never sent to a server, and without two leading slashes, which browsers treat as
 * a host.
 */
export const pageUrlPattern = `^(?:/(?!/)|[hH][tT][tT][pP][sS]?://${authority}(?=[/?]|$))[^#]*$`;

const entityUrl = {
  type: 'string',
  maxLength: urlCodePointsMax,
  pattern: pageUrlPattern,
  'x-rule': 'must begin with one / or be an absolute http(s) URL, and must have no fragment (#)',
  examples: ['/europe/france'],
} as const satisfies Shape;

export const entityTypeShape = {
  type: 'string',
  minLength: 1,
  maxLength: entityTypeCodePointsMax,
  description: 'Type of the entity; fixed by its first ingest',
  examples: ['country'],
} as const satisfies Shape;

export const entityUrlShape = {
  ...entityUrl,
  type: ['string', 'null'],
  description: 'Null if the entity has no page',
} as const satisfies Shape;

const originParentIdShape = {
  type: ['string', 'null'],
  maxLength: originIdCodePointsMax,
  description: 'originId of the parent; null when there is no hierarchy',
} as const satisfies Shape;

const redirectsShape = {
  type: ['array', 'null'],
  items: entityUrl,
  maxItems: redirectsMax,
  description: 'URLs that redirect to the url',
} as const satisfies Shape;

/** The rule for names of members of `properties`. */
export const propertyName = {
  pattern: '^(?!_*$)[A-Za-z_][A-Za-z0-9_]*$',
  rule: 'must not start with a digit, must not consist only of underscores, and may contain A-Z, a-z, 0-9 and _',
} as const;

const entityPropertiesShape = {
  component: 'Properties',
  type: 'object',
  additionalProperties: true,
  propertyNames: { type: 'string', pattern: propertyName.pattern, 'x-rule': propertyName.rule },
  description:
    'The data of the entity. The rule for names applies to the names directly in it, not to nested ones. ' +
    'Optional if the source has `propertiesOptional`',
  examples: [{ title: 'France', population: 67390000 }],
} as const satisfies Shape;

const publishTimeShape = {
  type: ['string', 'null'],
  examples: ['2027-01-04T09:00:00+01:00'],
} as const satisfies Shape;

const publishTimes = {
  publishAt: {
    ...publishTimeShape,
    description: 'ISO 8601 time with offset from which the entity is published; null: immediately',
  },
  unpublishAt: {
    ...publishTimeShape,
    description: 'ISO 8601 time with offset from which it is no longer published; null: never',
  },
} as const;

const entityMembers = {
  type: entityTypeShape,
  url: entityUrlShape,
  originParentId: originParentIdShape,
  redirects: redirectsShape,
  properties: entityPropertiesShape,
  ...publishTimes,
} as const;

export const simplifiedEntityShape = {
  component: 'Entity',
  type: 'object',
  properties: entityMembers,
  required: ['type', 'properties'],
} as const satisfies Shape;

const v1Members = {
  id: originIdShape,
  type: entityTypeShape,
  url: entityUrlShape,
  parentId: originParentIdShape,
  redirects: redirectsShape,
} as const;
const v1Required = ['id', 'type', 'properties'];

/** An entity of ingest v1 with plain properties. */
export const plainEntityV1Shape = {
  type: 'object',
  properties: { ...v1Members, properties: entityPropertiesShape },
  required: v1Required,
} as const satisfies Shape;

const anyProperties = { type: ['object', 'null'], additionalProperties: true } as const satisfies Shape;

const typedPropertyShape = {
  component: 'TypedProperty',
  type: ['object', 'null'],
  properties: {
    type: { type: 'string', enum: ['string', 'number', 'boolean', 'object', 'array'] },
    value: { description: 'For a string, number or boolean; absent: null. A number can be a string' },
    precision: {
      type: ['integer', 'null'],
      minimum: 0,
      description: 'Fractional digits to round a number to; absent: not rounded',
    },
    properties: { ...anyProperties, description: 'For an object: name -> typed property' },
    items: {
      type: ['array', 'null'],
      items: anyProperties,
      description: 'For an array: typed properties, or maps name -> typed property',
    },
  },
  required: ['type'],
} as const satisfies Shape;

/** Body of ingest v1. Members of typed properties may begin with an upper-case letter. */
export const entityV1Shape = {
  component: 'EntityV1',
  type: 'object',
  properties: {
    ...v1Members,
    properties: { type: 'object', additionalProperties: typedPropertyShape },
  },
  required: v1Required,
} as const satisfies Shape;

/** Body of a single save: the simplified form, or only the properties if there is a `…-Type` header. */
export const entityBodyShape = {
  anyOf: [simplifiedEntityShape, entityPropertiesShape],
} as const satisfies Shape;

export const bulkEntityShape = {
  component: 'SourceEntity',
  type: 'object',
  properties: { originId: originIdShape, ...entityMembers },
  required: ['originId', 'type', 'properties'],
} as const satisfies Shape;

export const bulkBodyShape = {
  type: 'array',
  items: bulkEntityShape,
  maxItems: bulkEntitiesMax,
} as const satisfies Shape;

export const bulkDeleteBodyShape = object({
  originIds: { ...list(originIdShape), maxItems: bulkEntitiesMax },
});

export const acceptedShape = {
  ...object({ status: { type: 'integer', examples: [200] }, message: anyString }),
  component: 'Accepted',
} as const satisfies Shape;

const codeShape = {
  ...anyString,
  description: 'With 422: name of the error in the catalogue of errors',
} as const;

const errorsByOriginIdShape = {
  type: 'object',
  additionalProperties: strings,
  description: 'originId, or entities[index] if it has no usable one -> errors',
} as const satisfies Shape;

export const bulkAnswerShape = {
  ...object(
    {
      status: { type: 'integer', enum: [200, 422] },
      changedSourceEntities: strings,
      unchangedSourceEntities: strings,
      errors: errorsByOriginIdShape,
      ingestMetadata: object({
        ingestVersion: { ...anyString, examples: ['v2'] },
        ingestFormat: { ...anyString, examples: ['bulk'] },
        systemInfo: stringOrNull,
        forceTypeOverwrite: anyBoolean,
      }),
      code: codeShape,
    },
    ['code'],
  ),
  component: 'BulkSaveResult',
} as const satisfies Shape;

export const bulkDeleteAnswerShape = {
  ...object(
    {
      status: { type: 'integer', enum: [200, 422] },
      deletedSourceEntities: strings,
      notFoundSourceEntities: strings,
      errors: errorsByOriginIdShape,
      code: codeShape,
    },
    ['code'],
  ),
  component: 'BulkDeleteResult',
} as const satisfies Shape;

export const listedEntitiesShape = {
  ...object({
    status: { type: 'integer', enum: [200] },
    originIds: strings,
    next: {
      ...stringOrNull,
      description: 'Send it as `after` to get the next page; null on the last page',
    },
  }),
  component: 'ListedEntities',
} as const satisfies Shape;
