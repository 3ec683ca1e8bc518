import type { Schedule } from '../api/answers.ts';
import { withParameters } from '../api/request.ts';
import { useGet } from '../api/use-get.ts';
import { entityHref, pageHref, scheduleHref, usePlace } from '../parts/addresses.ts';
import { Moment } from '../parts/format.tsx';
import { Empty, ErrorBox, Loading, State } from '../parts/notices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Table } from '../parts/table.tsx';

const pageLength = 50;

/** Scheduled publications and unpublications, next first. */
export function SchedulePage() {
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
