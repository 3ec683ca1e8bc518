import type { Configuration, Tenant } from '../api/answers.ts';
import { schemaHref } from '../parts/addresses.ts';
import { numberText, Time } from '../parts/format.tsx';
import { Empty } from '../parts/notices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Table } from '../parts/table.tsx';
import { useTenant } from '../parts/tenant-context.ts';
import { type SchemaDocument, schemaDocuments } from './documents.ts';

export function SchemaList({ configuration }: { readonly configuration: Configuration }) {
  const { tenant } = useTenant();
  const { documents, appliedAt } = configuration;
  const schemas = schemaDocuments(documents);
  const others = Object.keys(documents).filter((path) => !schemas.some((one) => one.path === path));
  return (
    <>
      <PageHead
        title="Schemas"
        about={
          <>
            The schema files of this tenant
            {appliedAt !== null && (
              <>
                , applied <Time at={appliedAt} />
              </>
            )}
            . Open one to see its source and to try a change on an entity.
          </>
        }
      />
      {schemas.length === 0 ? (
        <Empty>
          No schemas. Add one to the tenant's <code>schemas</code> folder and apply it.
        </Empty>
      ) : (
        <Table
          label="Schemas"
          heads={[
            { name: 'Schema' },
            { name: 'Kind' },
            { name: 'Language' },
            { name: 'Triggers' },
            { name: 'Built', isNumber: true },
          ]}
          rows={schemas.map((schema) => [
            <a key="alias" href={schemaHref(schema.path)}>
              {schema.alias}
            </a>,
            schema.kind,
            schema.language,
            triggersText(tenant, schema),
            madeText(tenant, schema),
          ])}
        />
      )}
      <ul class="links">
        {others.map((path) => (
          <li key={path}>
            <a href={schemaHref(path)}>{path}</a>
          </li>
        ))}
      </ul>
    </>
  );
}

function triggersText(tenant: Tenant, { alias, kind }: SchemaDocument): string {
  const schema = tenant.schemas.find((one) => one.alias === alias && one.kind === kind);
  return Object.entries(schema?.triggers ?? {})
    .map(([group, types]) => `${group}: ${types.join(', ')}`)
    .join('; ');
}

function madeText(tenant: Tenant, { alias, kind }: SchemaDocument): string {
  if (kind === 'partial') return '';
  const made =
    kind === 'full'
      ? tenant.schemas.find((one) => one.alias === alias && one.kind === 'full')?.views
      : tenant.indexes.find((one) => one.alias === alias)?.items;
  return numberText(made ?? 0);
}
