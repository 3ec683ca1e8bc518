import type { Preview } from '../api/answers.ts';
import { madeOf, usePreview } from '../api/use-get.ts';
import { Difference } from '../parts/difference.tsx';
import { counted, millisecondsText } from '../parts/format.tsx';
import { Json } from '../parts/json.tsx';
import { Empty, ErrorBox, Loading } from '../parts/notices.tsx';
import { useTenant } from '../parts/tenant-context.ts';
import { Lookups } from '../view/facts.tsx';

interface OutcomeProps {
  readonly schema: SchemaDocument;
  /** Null if the schema is unchanged. */
  readonly edited: string | null;
  readonly entity: string;
  readonly sourceGroup: string;
}

/** The result of the schema for the entity now, and after the change. */
export function Outcome({ schema, edited, entity, sourceGroup }: OutcomeProps) {
  const { environment } = useTenant();
  const { kind, language, alias } = schema;
  const common = { originId: entity, sourceGroup, environment };
  const now = usePreview(
    entity === '' ? null : { ...common, schema: kind === 'index' ? `index:${alias}` : alias },
  );
  const then = usePreview(
    entity === '' || edited === null ? null : { ...common, schema: { kind, language, text: edited, alias } },
  );
  if (entity === '') return <Empty>Enter the originId of an entity. Content lists them.</Empty>;
  if (now.error !== null && now.error.status !== 422) return <ErrorBox error={now.error} retry={now.retry} />;
  if (now.preview === null && now.error === null) return <Loading />;
  if (edited === null) {
    return now.preview === null ? (
      now.error !== null && <ErrorBox error={now.error} retry={now.retry} />
    ) : (
      <>
        <PreviewStats preview={now.preview} />
        <Json value={madeOf(now.preview)} label="Current result" />
        <Details preview={now.preview} />
      </>
    );
  }
  if (then.error !== null) return <ErrorBox error={then.error} retry={then.retry} />;
  if (then.preview === null) return <Loading />;
  return (
    <>
      <PreviewStats preview={then.preview} />
      <Difference
        before={now.preview === null ? undefined : madeOf(now.preview)}
        after={madeOf(then.preview)}
        label="Difference from the current result"
      />
      <Details preview={then.preview} />
    </>
  );
}

function PreviewStats({ preview }: { readonly preview: Preview }) {
  return (
    <p class="quiet">
      Built in {millisecondsText(preview.milliseconds)}
      {preview.missing.length > 0 && `, ${counted(preview.missing.length, 'missing reference')}`}
      {preview.diagnostics.length > 0 && `, ${counted(preview.diagnostics.length, 'diagnostic')}`}
    </p>
  );
}

function Details({
  preview: { diagnostics, lookups, missing, console: printed = [] },
}: {
  readonly preview: Preview;
}) {
  return (
    <>
      {diagnostics.length > 0 && (
        <List
          title="Diagnostics"
          texts={diagnostics.map(({ place, message }) =>
            place === undefined ? message : `${place}: ${message}`,
          )}
        />
      )}
      {missing.length > 0 && (
        <List
          title="References to missing views"
          texts={missing.map(({ path, viewId }) => `${path}: ${viewId}`)}
        />
      )}
      {printed.length > 0 && <List title="Console output of the code" texts={printed} />}
      {lookups.length > 0 && (
        <section>
          <h3>Lookups</h3>
          <Lookups lookups={lookups} />
        </section>
      )}
    </>
  );
}

function List({ title, texts }: { readonly title: string; readonly texts: readonly string[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <ul class="rows">
        {texts.map((text, at) => (
          <li key={at}>{text}</li>
        ))}
      </ul>
    </section>
  );
}

export interface SchemaDocument {
  readonly path: string;
  readonly alias: string;
  readonly kind: 'full' | 'partial' | 'index';
  readonly language: 'json' | 'js' | 'ts';
}

const pathPattern =
  /^(schemas|partials|indexes)\/(?:.*\/)?([^/]+?)(?:\.(full|partial|index))?\.(json|js|ts)$/;
const kinds = { schemas: 'full', partials: 'partial', indexes: 'index' } as const;

/** The schema that a document defines; null for `tenant.json` and helper modules. */
export function schemaDocument(path: string): SchemaDocument | null {
  const [, folder, alias, named, language] = pathPattern.exec(path) ?? [];
  if (folder === undefined || alias === undefined) return null;
  return {
    path,
    alias,
    kind: (named ?? kinds[folder as keyof typeof kinds]) as SchemaDocument['kind'],
    language: language as SchemaDocument['language'],
  };
}

export function schemaDocuments(documents: Readonly<Record<string, string>>): SchemaDocument[] {
  return Object.keys(documents)
    .sort()
    .map(schemaDocument)
    .filter((document) => document !== null);
}
