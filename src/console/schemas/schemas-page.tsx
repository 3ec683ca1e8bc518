import { useEffect, useState } from 'preact/hooks';
import type { Configuration, Entities, Tenant } from '../api/answers.ts';
import { withParameters } from '../api/request.ts';
import { useGet } from '../api/use-get.ts';
import { go, pageHref, schemaHref, usePlace } from '../parts/addresses.ts';
import { numberText, Time } from '../parts/format.tsx';
import { Empty, ErrorBox, Loading } from '../parts/notices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Table } from '../parts/table.tsx';
import { groupsIn, useTenant } from '../parts/tenant-context.ts';
import { Apply } from './apply.tsx';
import { Outcome, type SchemaDocument, schemaDocument, schemaDocuments } from './outcome.tsx';
import { Editor, Source } from './source-text.tsx';

/** @param document path of the document in the address; '' for the list */
export function SchemasPage({ document }: { readonly document: string }) {
  const { search } = usePlace();
  const { data, error, reload } = useGet<Configuration>('/configuration');
  const alias = search.get('alias');
  useEffect(() => {
    const found = schemaDocuments(data?.documents ?? {}).find(
      (one) => one.kind === 'full' && one.alias === alias,
    );
    if (found !== undefined) go(schemaHref(found.path, { entity: search.get('entity') }), 'replace');
  }, [data, alias]);
  const trail = [{ name: 'Schemas', href: pageHref('schemas') }];
  if (data === null) {
    return (
      <>
        {document === '' ? <PageHead title="Schemas" /> : <PageHead title={document} trail={trail} />}
        {error === null ? <Loading /> : <ErrorBox error={error} retry={reload} />}
      </>
    );
  }
  if (document === '') return <SchemaList configuration={data} />;
  const text = data.documents[document];
  if (text === undefined) {
    return (
      <>
        <PageHead title={document} trail={trail} />
        <Empty>
          The configuration has no such document. <a href={pageHref('schemas')}>See all documents</a>
        </Empty>
      </>
    );
  }
  const schema = schemaDocument(document);
  if (schema === null || schema.kind === 'partial') {
    return (
      <>
        <PageHead title={document} trail={trail} />
        <Source text={text} path={document} />
      </>
    );
  }
  return <Workbench key={document} schema={schema} text={text} configuration={data} reload={reload} />;
}

function SchemaList({ configuration }: { readonly configuration: Configuration }) {
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

interface WorkbenchProps {
  readonly schema: SchemaDocument;
  readonly text: string;
  readonly configuration: Configuration;
  readonly reload: () => void;
}

/** An editor for a schema, next to the result of the change for an entity. */
function Workbench({ schema, text, configuration, reload }: WorkbenchProps) {
  const { tenant, environment } = useTenant();
  const { search } = usePlace();
  const { text: edited, isOutdated, edit } = useDraft(schema.path, text);
  const triggers = tenant.schemas.find(
    (one) => one.alias === schema.alias && one.kind === schema.kind,
  )?.triggers;
  const groups = Object.keys(triggers ?? {});
  const sourceGroup = search.get('sourceGroup') ?? groups[0] ?? tenant.sourceGroups[0]?.alias ?? '';
  const type = triggers?.[sourceGroup]?.[0] ?? null;
  const { data: examples } = useGet<Entities>(
    groupsIn(tenant, environment).includes(sourceGroup)
      ? withParameters('/entities', { sourceGroup, environment, type, first: 50, details: true })
      : null,
  );
  const entity = search.get('entity') ?? examples?.entities[0]?.originId ?? '';
  const choose = (originId: string) =>
    go(schemaHref(schema.path, { entity: originId, sourceGroup: search.get('sourceGroup') }), 'replace');
  return (
    <>
      <PageHead
        title={schema.alias}
        trail={[{ name: 'Schemas', href: pageHref('schemas') }]}
        about="Edit the source to see the result for the entity and how it differs from the current one. Nothing is stored until you apply it."
      />
      <div class="columns">
        <section>
          <h2>{schema.path}</h2>
          <Editor path={schema.path} text={edited} onText={edit} />
          <Apply
            schema={schema}
            configuration={configuration}
            text={text}
            edited={edited}
            isOutdated={isOutdated}
            reload={reload}
            onReset={() => edit(text)}
          />
        </section>
        <section>
          <h2>Result for an entity</h2>
          <div class="find">
            <label for="entity">Entity</label>
            <input
              id="entity"
              type="text"
              list="examples"
              value={entity}
              onChange={({ currentTarget }) => choose(currentTarget.value.trim())}
            />
            <datalist id="examples">
              {examples?.entities.map(({ originId, name }) => (
                <option key={originId} value={originId} label={name ?? undefined} />
              ))}
            </datalist>
          </div>
          <Outcome
            schema={schema}
            edited={edited === text ? null : edited}
            entity={entity}
            sourceGroup={sourceGroup}
          />
        </section>
      </div>
    </>
  );
}

interface Draft {
  readonly text: string;
  /** True if the original has changed since the edit began. */
  readonly isOutdated: boolean;
  /** Replaces the text. The original as text ends the edit. */
  edit(text: string): void;
}

interface KeptDraft {
  readonly original: string;
  readonly text: string;
}

/**
 * An edit of a text. The tab keeps it while it differs from the original, so it survives a reload, other pages, and a key that
 * is no longer accepted.
 * @param name constant for a component
 */
function useDraft(name: string, original: string): Draft {
  const key = `millrace-draft ${useTenant().tenant.alias} ${name}`;
  const [kept, setKept] = useState(() => keptDraft(key));
  const current = kept !== null && kept.text !== original ? kept : null;
  const edit = (text: string) => {
    const next = text === original ? null : { original: current?.original ?? original, text };
    keepDraft(key, next);
    setKept(next);
  };
  return {
    text: current?.text ?? original,
    isOutdated: current !== null && current.original !== original,
    edit,
  };
}

function keptDraft(key: string): KeptDraft | null {
  const text = sessionStorage.getItem(key);
  return text === null ? null : (JSON.parse(text) as KeptDraft);
}

function keepDraft(key: string, draft: KeptDraft | null): void {
  // A draft that does not fit must not stay there as a former version of itself.
  sessionStorage.removeItem(key);
  try {
    if (draft !== null) sessionStorage.setItem(key, JSON.stringify(draft));
  } catch {
    // The storage of the tab is full: only the page has the edit.
  }
}
