import type { Entity } from '../api/answers.ts';
import { withParameters } from '../api/request.ts';
import { useGet } from '../api/use-get.ts';
import { entitiesHref, entityHref, pageHref, urlHref, viewHref } from '../parts/addresses.ts';
import { Copy } from '../parts/copy.tsx';
import { Time } from '../parts/format.tsx';
import { Json } from '../parts/json.tsx';
import { Empty, ErrorBox, Loading } from '../parts/notices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Table } from '../parts/table.tsx';
import { groupsIn, useTenant } from '../parts/tenant-context.ts';
import { IndexLinks } from '../parts/view-links.tsx';
import { WhatIf } from '../what-if/what-if.tsx';
import { PublishState } from './publish-state.tsx';

interface EntityPageProps {
  readonly sourceGroup: string;
  readonly originId: string;
}

/** An entity as it was saved, and its views and index items. */
export function EntityPage({ sourceGroup, originId }: EntityPageProps) {
  const { tenant, environment } = useTenant();
  const isHere = groupsIn(tenant, environment).includes(sourceGroup);
  const path = `/entities/${encodeURIComponent(sourceGroup)}/${encodeURIComponent(originId)}`;
  const { data, error, reload } = useGet<Entity>(isHere ? withParameters(path, { environment }) : null);
  const type = data?.entity.type;
  const here = data?.made.find((one) => one.environment === environment);
  const trail = [
    { name: 'Content', href: pageHref('content') },
    { name: sourceGroup, href: entitiesHref(sourceGroup) },
    ...(type === undefined ? [] : [{ name: type, href: entitiesHref(sourceGroup, { type }) }]),
  ];
  return (
    <>
      <PageHead title={originId} trail={trail} />
      {error !== null && <ErrorBox error={error} retry={reload} />}
      {!isHere && <Empty>No source of this group belongs to the environment {environment}.</Empty>}
      {isHere && data === null && error === null && <Loading />}
      {data !== null && (
        <>
          <Facts sourceGroup={sourceGroup} data={data} />
          <Made data={data} />
          <section>
            <h2>Properties</h2>
            <Json value={data.entity.properties} label="Properties" />
          </section>
          {here !== undefined && <WhatIf entity={data.entity} made={here} />}
        </>
      )}
    </>
  );
}

function Facts({ sourceGroup, data }: { readonly sourceGroup: string; readonly data: Entity }) {
  const { entity, createdAt, updatedAt, version } = data;
  return (
    <dl class="facts">
      <div>
        <dt>Type</dt>
        <dd>{entity.type}</dd>
      </div>
      <div>
        <dt>URL</dt>
        <dd>{entity.url === null ? 'none' : <a href={urlHref(entity.url)}>{entity.url}</a>}</dd>
      </div>
      {entity.originParentId !== null && (
        <div>
          <dt>Parent</dt>
          <dd>
            <a href={entityHref(sourceGroup, entity.originParentId)}>{entity.originParentId}</a>
          </dd>
        </div>
      )}
      {entity.redirects.length > 0 && (
        <div>
          <dt>Redirects</dt>
          <dd>
            {entity.redirects.map((url) => (
              <div key={url}>
                <a href={urlHref(url)}>{url}</a>
              </div>
            ))}
          </dd>
        </div>
      )}
      <PublishState {...data} />
      <div>
        <dt>Changed</dt>
        <dd>
          <Time at={updatedAt} />
        </dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd>
          <Time at={createdAt} />
        </dd>
      </div>
      <div>
        <dt>Id</dt>
        <dd>
          <code>{entity.id}</code> <Copy text={entity.id} what="entity id" />
        </dd>
      </div>
      <div>
        <dt>Version</dt>
        <dd>
          <code>{version}</code> <Copy text={version} what="version" />
        </dd>
      </div>
    </dl>
  );
}

function Made({ data }: { readonly data: Entity }) {
  if (data.made.length === 0) {
    return (
      <section>
        <h2>Built from it</h2>
        {data.state === 'waiting' && <Empty>Nothing yet: the entity is waiting to be published.</Empty>}
        {data.state === 'over' && <Empty>Nothing: the entity is no longer published.</Empty>}
        {data.state === 'published' && (
          <Empty>
            No views and no index items. No schema has a trigger for <code>{data.entity.type}</code> here: see{' '}
            <a href={pageHref('schemas')}>Schemas</a>.
          </Empty>
        )}
      </section>
    );
  }
  return (
    <>
      {data.made.map(({ environment, views, items }) => (
        <section key={environment}>
          <h2>Built from it in {environment}</h2>
          {views.length > 0 && (
            <Table
              label={`Views in ${environment}`}
              heads={[{ name: 'View' }, { name: 'URLs' }, { name: 'Handles' }]}
              rows={views.map(({ id, alias, urls, handles }) => [
                <a key="view" href={viewHref(id)}>
                  {alias}
                </a>,
                urls.map((url) => (
                  <div key={url}>
                    <a href={urlHref(url, environment)}>{url}</a>
                  </div>
                )),
                handles.join(', '),
              ])}
            />
          )}
          {items.length > 0 && (
            <p>
              In the indexes <IndexLinks names={items.map(({ index }) => index)} />
            </p>
          )}
        </section>
      ))}
    </>
  );
}
