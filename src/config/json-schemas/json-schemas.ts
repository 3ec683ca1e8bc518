/** The JSON Schemas of configuration files, by the names of the files in `config/json-schemas`. */
import type { JsonSchema } from './forms.ts';
import { fullSchemaSchema, indexSchemaSchema, partialSchemaSchema } from './schema-files.ts';
import { tenantFileSchema } from './tenant-file-schema.ts';

export const jsonSchemas: Readonly<Record<'tenant' | 'schema' | 'partial' | 'index', JsonSchema>> = {
  tenant: tenantFileSchema,
  schema: fullSchemaSchema,
  partial: partialSchemaSchema,
  index: indexSchemaSchema,
};
