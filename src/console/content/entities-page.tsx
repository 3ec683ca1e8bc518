import type { Entities } from '../api/answers.ts';
import { withParameters } from '../api/request.ts';
import { useGet } from '../api/use-get.ts';
import { Empty } from '../parts/empty.tsx';
import { ErrorBox } from '../parts/error-box.tsx';
import { Loading } from '../parts/loading.tsx';
import { numberText } from '../parts/numbers.ts';
import { PageHead } from '../parts/page-head.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { entitiesHref, entityHref, pageHref, urlHref } from '../shell/addresses.ts';
import { usePlace } from '../shell/place.ts';
import { useTenant } from '../shell/tenant.ts';

const pageLength = 50;

/** The entities of a source group, or of one type of it, page by page. */
export function EntitiesPage({ sourceGroup }: { readonly sourceGroup: string }) {
  const { tenant, environment } = useTenant();
  const { search } = usePlace();
  const type = search.get('type');
  const after = search.get('after');
  const { data, error, reload } = useGet<Entities>(
    withParameters('/entities', { sourceGroup, environment, type, first: pageLength, after }),
  );
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
      {data === null && error === null && <Loading />}
      {data?.entities.length === 0 && <Empty>No entities here.</Empty>}
      {data !== null && data.entities.length > 0 && (
        <>
          <Table
            label="Entities"
            heads={[{ name: 'originId' }, { name: 'Type' }, { name: 'URL' }, { name: 'Changed' }]}
            rows={data.entities.map(({ originId, type: own, url, updatedAt }) => [
              <a key="id" href={entityHref(sourceGroup, originId)}>
                {originId}
              </a>,
              own,
              url === null ? '' : <a href={urlHref(url)}>{url}</a>,
              <Time key="at" at={updatedAt} />,
            ])}
          />
          <nav class="paging" aria-label="Pages of entities">
            {after !== null && <a href={entitiesHref(sourceGroup, { type })}>First page</a>}
            {data.next !== null && (
              <a href={entitiesHref(sourceGroup, { type, after: data.next })}>Next page</a>
            )}
          </nav>
        </>
      )}
    </>
  );
}

function trailOf(sourceGroup: string, type: string | null) {
  const content = { name: 'Content', href: pageHref('content') };
  return type === null ? [content] : [content, { name: sourceGroup, href: entitiesHref(sourceGroup) }];
}
