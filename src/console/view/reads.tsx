import type { Lookup, ViewExplained } from '../api/answers.ts';
import { counted, Moment, numberText } from '../parts/format.tsx';
import { Empty, State } from '../parts/notices.tsx';
import { Table } from '../parts/table.tsx';
import { ViewLink } from '../parts/view-links.tsx';

/** What a view is built from, besides its own entity. */
export function Reads({ explained: { lookups, shows } }: { readonly explained: ViewExplained }) {
  return (
    <>
      <section>
        <h2>Shows</h2>
        {shows.length === 0 ? (
          <Empty>No references to other views.</Empty>
        ) : (
          <Table
            label="Views that it shows"
            heads={[{ name: 'View' }, { name: 'Where' }]}
            rows={shows.map(({ viewId, paths, missing, scheduled }) => [
              <span key="view">
                <ViewLink id={viewId} /> {missing && <State means="bad">missing</State>}
                {scheduled !== undefined && (
                  <>
                    {' '}
                    until <Moment at={scheduled.at} />
                  </>
                )}
              </span>,
              <code key="paths">{paths.join(', ')}</code>,
            ])}
          />
        )}
      </section>
      <section>
        <h2>Looks up</h2>
        {lookups.length === 0 ? (
          <Empty>No lookups: it depends only on its own entity.</Empty>
        ) : (
          <Lookups lookups={lookups} />
        )}
      </section>
    </>
  );
}

/** The lookups, with their conditions, the numbers of matches and results, and their paths in the schema. */
export function Lookups({ lookups }: { readonly lookups: readonly Lookup[] }) {
  return (
    <ul class="rows" aria-label="Lookups">
      {lookups.map(({ place, sourceGroup, condition, matched, taken, cut }) => (
        <li key={place} class="lookup-row">
          <code>{questionOf(sourceGroup, condition) ?? place}</code>
          <span class="number">
            {counted(matched, 'match', 'matches')}
            {taken !== undefined && `, ${numberText(taken)} used`}{' '}
            {cut && <State means="warn">cut off</State>}
          </span>
          {questionOf(sourceGroup, condition) !== null && <small class="quiet">{place}</small>}
        </li>
      ))}
    </ul>
  );
}

/** The condition of a lookup; null if only its path is known, as in a preview. */
function questionOf(sourceGroup: string | undefined, condition: unknown): string | null {
  if (condition === undefined || condition === null) return null;
  const text = typeof condition === 'string' ? condition : JSON.stringify(condition);
  return sourceGroup === undefined ? text : `${sourceGroup}: ${text}`;
}
