/**
 * The JSON Schemas of configuration files, by their file names in `config/json-schemas`. They come from the same shapes that
 * read the files.
 */
import { fileOf, type JsonSchema } from '../contract/document-shape.ts';
import { indexSchemaShape } from '../schemas/definition/index-schema.ts';
import { definitions, fullSchemaShape, isTriggered, partialSchemaShape } from '../schemas/shapes.ts';
import { tenantShape } from './tenant/tenant-shapes.ts';

export const jsonSchemas: Readonly<Record<'tenant' | 'schema' | 'partial' | 'index', JsonSchema>> = {
  tenant: fileOf('tenant.json of a Millrace tenant', tenantShape),
  schema: fileOf('Full schema of Millrace: builds a view for each entity that triggers it', fullSchemaShape, {
    ...isTriggered,
    definitions,
  }),
  partial: fileOf('Partial schema of Millrace: part of a mapping for several schemas', partialSchemaShape, {
    definitions,
  }),
  index: fileOf(
    'Index schema of Millrace: builds an index item for each entity that triggers it',
    indexSchemaShape,
    { ...isTriggered, definitions },
  ),
};
