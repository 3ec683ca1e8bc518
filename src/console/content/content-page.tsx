import type { Schedule } from '../api/answers.ts';
import { withParameters } from '../api/request.ts';
import { useGet } from '../api/use-get.ts';
import { entitiesHref, entityHref, pageHref, scheduleHref, usePlace } from '../parts/addresses.ts';
import { counted, Moment, numberText } from '../parts/format.tsx';
import { Empty, ErrorBox, Loading, State } from '../parts/notices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Table } from '../parts/table.tsx';
import { useTenant } from '../parts/tenant-context.ts';
import { EntitiesPage } from './entities-page.tsx';
import { EntityPage } from './entity-page.tsx';
import { FoundPage } from './found-page.tsx';

/** @param rest the remaining segments of the address: a source group, and an originId */
export function ContentPage({ rest }: { readonly rest: readonly string[] }) {
  const { search } = usePlace();
  const text = search.get('find') ?? '';
  const [sourceGroup = '', ...originId] = rest;
  if (sourceGroup === '' && search.get('show') === 'schedule') return <SchedulePage />;
  if (sourceGroup === '') return text === '' ? <GroupsPage /> : <FoundPage text={text} />;
  if (originId.length === 0) return <EntitiesPage sourceGroup={sourceGroup} />;
  return <EntityPage sourceGroup={sourceGroup} originId={originId.join('/')} />;
}

/** The source groups, with the number of entities of each type. */
function GroupsPage() {
  const { tenant } = useTenant();
  return (
    <>
      <PageHead title="Content" about="The entities that your systems pushed, by source group and type." />
      <p>
        <a href={scheduleHref()}>Schedule</a>: what is to be published and unpublished.
      </p>
      {tenant.sourceGroups.length === 0 && (
        <Empty>
          No source groups. Add one to <code>sourceGroups</code> in <code>tenant.json</code>.
        </Empty>
      )}
      {tenant.sourceGroups.map(({ alias, types, sources, autoIndex }) => (
        <section key={alias}>
          <h2>
            <a href={entitiesHref(alias)}>{alias}</a>
          </h2>
          <p class="quiet">
            {counted(sources.length, 'source')}: {sources.map(({ name }) => name).join(', ')}
            {autoIndex && ' · auto-indexed'}
          </p>
          {types.length === 0 ? (
            <Empty>
              No entities yet. Push one with <code>POST /ingest/v2/&lt;originId&gt;</code> and a key of the
              source.
            </Empty>
          ) : (
            <ul class="cards">
              {[...types]
                .sort((a, b) => a.type.localeCompare(b.type))
                .map(({ type, entities }) => (
                  <li key={type}>
                    <a class="card" href={entitiesHref(alias, { type })}>
                      <span>{type}</span>
                      <strong class="number">{numberText(entities)}</strong>
                    </a>
                  </li>
                ))}
            </ul>
          )}
        </section>
      ))}
    </>
  );
}

const pageLength = 50;

/** Scheduled publications and unpublications, next first. */
function SchedulePage() {
  const after = usePlace().search.get('after');
  const { data, error, reload } = useGet<Schedule>(withParameters('/schedule', { first: pageLength, after }));
  return (
    <>
      <PageHead
        title="Schedule"
        about="Entities that are waiting to be published or unpublished."
        trail={[{ name: 'Content', href: pageHref('content') }]}
      />
      {error !== null && <ErrorBox error={error} retry={reload} />}
      {data === null && error === null && <Loading />}
      {data?.scheduled.length === 0 && (
        <Empty>
          Nothing is scheduled. Save an entity with <code>publishAt</code> or <code>unpublishAt</code>.
        </Empty>
      )}
      {data !== null && data.scheduled.length > 0 && (
        <>
          <Table
            label="Schedule"
            heads={[
              { name: 'When' },
              { name: 'Becomes' },
              { name: 'Entity' },
              { name: 'Type' },
              { name: 'In' },
            ]}
            rows={data.scheduled.map(({ sourceGroup, environment, originId, type, at, becomes }) => [
              <Moment key="at" at={at} />,
              <State key="becomes" means={becomes === 'published' ? 'good' : 'quiet'}>
                {becomes}
              </State>,
              <a key="id" href={entityHref(sourceGroup, originId)}>
                {originId}
              </a>,
              type,
              environment === null ? sourceGroup : `${sourceGroup}, ${environment}`,
            ])}
          />
          <nav class="paging" aria-label="Pages of the schedule">
            {after !== null && <a href={scheduleHref()}>First page</a>}
            {data.next !== null && <a href={scheduleHref(data.next)}>Next page</a>}
          </nav>
        </>
      )}
    </>
  );
}
