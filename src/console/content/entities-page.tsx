import type { Entities } from '../api/answers.ts';
import { withParameters } from '../api/request.ts';
import { useGet } from '../api/use-get.ts';
import { entitiesHref, entityHref, pageHref, urlHref, usePlace } from '../parts/addresses.ts';
import { numberText, Time } from '../parts/format.tsx';
import { Empty, ErrorBox, Loading } from '../parts/notices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Table } from '../parts/table.tsx';
import { groupsIn, useTenant } from '../parts/tenant-context.ts';
import { PublishBadge } from './publish-state.tsx';

const pageLength = 50;

/** The entities of a source group, optionally of one type, page by page. */
export function EntitiesPage({ sourceGroup }: { readonly sourceGroup: string }) {
  const { tenant, environment } = useTenant();
  const { search } = usePlace();
  const type = search.get('type');
  const after = search.get('after');
  const before = search.get('before');
  const isHere = groupsIn(tenant, environment).includes(sourceGroup);
  const asked = { sourceGroup, environment, type, first: pageLength, after, before, details: true };
  const { data, error, reload } = useGet<Entities>(isHere ? withParameters('/entities', asked) : null);
  const types = tenant.sourceGroups.find(({ alias }) => alias === sourceGroup)?.types ?? [];
  return (
    <>
      <PageHead title={type ?? sourceGroup} trail={trailOf(sourceGroup, type)} />
      <nav class="choices" aria-label="Types">
        <a href={entitiesHref(sourceGroup)} aria-current={type === null ? 'true' : undefined}>
          all
        </a>
        {types.map((one) => (
          <a
            key={one.type}
            href={entitiesHref(sourceGroup, { type: one.type })}
            aria-current={one.type === type ? 'true' : undefined}
          >
            {one.type} <small>{numberText(one.entities)}</small>
          </a>
        ))}
      </nav>
      {error !== null && <ErrorBox error={error} retry={reload} />}
      {!isHere && <Empty>No source of this group belongs to the environment {environment}.</Empty>}
      {isHere && data === null && error === null && <Loading />}
      {data?.entities.length === 0 && <Empty>No entities here.</Empty>}
      {data !== null && data.entities.length > 0 && (
        <Table
          label="Entities"
          heads={[{ name: 'Entity' }, { name: 'Type' }, { name: 'URL' }, { name: 'Changed' }]}
          rows={data.entities.map((entity) => [
            <Name key="name" sourceGroup={sourceGroup} entity={entity} />,
            entity.type,
            entity.url === null ? '' : <a href={urlHref(entity.url)}>{entity.url}</a>,
            <Time key="at" at={entity.updatedAt} />,
          ])}
        />
      )}
      {data !== null && (
        <Paging page={data} after={after} hrefOf={(place) => entitiesHref(sourceGroup, { type, ...place })} />
      )}
    </>
  );
}

interface NameProps {
  readonly sourceGroup: string;
  readonly entity: Entities['entities'][number];
}

/** The name of an entity, its id, and whether it is published. */
function Name({ sourceGroup, entity: { originId, name = null, state = 'published', ...times } }: NameProps) {
  const { publishAt = null, unpublishAt = null } = times;
  return (
    <>
      <a href={entityHref(sourceGroup, originId)}>
        <bdi>{name ?? originId}</bdi>
      </a>{' '}
      {name !== null && <small class="quiet">{originId}</small>}{' '}
      <PublishBadge publishAt={publishAt} unpublishAt={unpublishAt} state={state} />
    </>
  );
}

interface PagingProps {
  readonly page: Entities;
  readonly after: string | null;
  readonly hrefOf: (place: { readonly after?: string; readonly before?: string }) => string;
}

function Paging({ page: { entities, next, previous }, after, hrefOf }: PagingProps) {
  const before = after === null ? (previous ?? null) : (entities[0]?.originId ?? null);
  const isFirst = after === null && previous == null;
  return (
    <nav class="paging" aria-label="Pages of entities">
      {!isFirst && <a href={hrefOf({})}>First page</a>}
      {before !== null && (
        <a rel="prev" href={hrefOf({ before })}>
          Previous page
        </a>
      )}
      {next !== null && (
        <a rel="next" href={hrefOf({ after: next })}>
          Next page
        </a>
      )}
    </nav>
  );
}

function trailOf(sourceGroup: string, type: string | null) {
  const content = { name: 'Content', href: pageHref('content') };
  return type === null ? [content] : [content, { name: sourceGroup, href: entitiesHref(sourceGroup) }];
}
