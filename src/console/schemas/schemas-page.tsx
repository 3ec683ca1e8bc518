import { useEffect } from 'preact/hooks';
import type { Configuration } from '../api/answers.ts';
import { useGet } from '../api/use-get.ts';
import { go, pageHref, schemaHref, usePlace } from '../parts/addresses.ts';
import { Empty, ErrorBox, Loading } from '../parts/notices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { schemaDocument, schemaDocuments } from './documents.ts';
import { SchemaList } from './schema-list.tsx';
import { Source } from './source-text.tsx';
import { Workbench } from './workbench.tsx';

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
