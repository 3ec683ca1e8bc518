import type { Schedule } from '../api/answers.ts';
import { withParameters } from '../api/request.ts';
import { useGet } from '../api/use-get.ts';
import { Empty } from '../parts/empty.tsx';
import { ErrorBox } from '../parts/error-box.tsx';
import { Loading } from '../parts/loading.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { Moment } from '../parts/time.tsx';
import { entityHref, pageHref, scheduleHref } from '../shell/addresses.ts';
import { usePlace } from '../shell/place.ts';

const pageLength = 50;

/** What is published and taken back, the next moment first. */
export function SchedulePage() {
  const after = usePlace().search.get('after');
  const { data, error, reload } = useGet<Schedule>(withParameters('/schedule', { first: pageLength, after }));
  return (
    <>
      <PageHead
        title="Schedule"
        about="Entities that wait to be published, or to be taken back."
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
