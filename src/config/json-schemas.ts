/**
 * The JSON Schemas of configuration files, by their file names in `config/json-schemas`. They come from the same shapes that
 * read the files.
 */
import { fileOf, type JsonSchema } from '../contract/document-shape.ts';
import { indexSchemaShape } from '../schemas/definition/index-schema.ts';
import { definitions, fullSchemaShape, isTriggered, partialSchemaShape } from '../schemas/shapes.ts';
import { tenantShape } from './tenant/tenant-shapes.ts';

export const jsonSchemas: Readonly<Record<'tenant' | 'schema' | 'partial' | 'index', JsonSchema>> = {
  tenant: fileOf('tenant.json of a tenant of Millrace', tenantShape),
  schema: fileOf('Full schema of Millrace: makes a view of each entity that triggers it', fullSchemaShape, {
    ...isTriggered,
    definitions,
  }),
  partial: fileOf('Partial schema of Millrace: a piece of a mapping that others use', partialSchemaShape, {
    definitions,
  }),
  index: fileOf(
    'Index schema of Millrace: makes an item of an index of each entity that triggers it',
    indexSchemaShape,
    { ...isTriggered, definitions },
  ),
};
