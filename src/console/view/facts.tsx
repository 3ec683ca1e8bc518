import type { Claim, Lookup, ViewExplained } from '../api/answers.ts';
import { entityParts, schemaHref, urlHref } from '../parts/addresses.ts';
import { bytesText, counted, Moment, numberText, Time } from '../parts/format.tsx';
import { Empty, State } from '../parts/notices.tsx';
import { Table } from '../parts/table.tsx';
import { entityHrefOf, useTenant } from '../parts/tenant-context.ts';
import { IndexLinks, ViewLink } from '../parts/view-links.tsx';

const causeTexts: Readonly<Record<string, string>> = {
  ingest: 'its own entity was saved',
  lookup: 'an entity that it looks up was saved',
  configuration: 'the configuration changed',
  repair: 'a repair corrected it',
  restore: 'it was restored from a backup',
  schedule: 'its entity was published at its scheduled time',
};

export function Facts({ explained }: { readonly explained: ViewExplained }) {
  const { tenant } = useTenant();
  const { entity, alias, environment, size, urls, handles, indexItems, built, failure, scheduled } =
    explained;
  const entityHref = entityHrefOf(tenant, entity.id);
  return (
    <dl class="facts">
      <div>
        <dt>Last changed</dt>
        <dd>
          <Time at={built.at} />, <Cause because={built.because} own={entity.id} />
        </dd>
      </div>
      {scheduled !== undefined && (
        <div>
          <dt>Published</dt>
          <dd>
            <State means="warn">until</State> <Moment at={scheduled.at} />
          </dd>
        </div>
      )}
      {failure !== undefined && (
        <div>
          <dt>Last rebuild failed</dt>
          <dd class="error-text">
            {failure.message} {failure.place !== undefined && <code>{failure.place}</code>} The last good view
            is kept.
          </dd>
        </div>
      )}
      <div>
        <dt>Entity</dt>
        <dd>
          {entityHref === null ? entity.originId : <a href={entityHref}>{entity.originId}</a>} ({entity.type}
          ), saved <Time at={entity.updatedAt} />
        </dd>
      </div>
      <div>
        <dt>Schema</dt>
        <dd>
          <a href={schemaHref('', { alias, entity: entity.originId })}>{alias}</a> in {environment},{' '}
          {bytesText(size)}
        </dd>
      </div>
      <div>
        <dt>URLs</dt>
        <dd>
          {urls.length === 0 && 'none'}
          {urls.map((claim) => (
            <div key={`${claim.kind} ${claim.url}`}>
              <a href={urlHref(claim.url, environment)}>{claim.url}</a>{' '}
              {claim.kind === 'redirect' && <small>redirect</small>} <Served claim={claim} />
            </div>
          ))}
        </dd>
      </div>
      <div>
        <dt>Handles</dt>
        <dd>
          {handles.length === 0 && 'none'}
          {handles.map((claim) => (
            <div key={claim.handle}>
              <code>{claim.handle}</code> <Served claim={claim} />
            </div>
          ))}
        </dd>
      </div>
      {indexItems.length > 0 && (
        <div>
          <dt>Index items</dt>
          <dd>
            <IndexLinks names={indexItems} />
          </dd>
        </div>
      )}
    </dl>
  );
}

function Served({ claim: { served, beatenBy } }: { readonly claim: Claim }) {
  if (served) return <State means="good">served</State>;
  return (
    <>
      <State means="warn">not served</State>
      {typeof beatenBy === 'string' && (
        <>
          {' '}
          because it lost to <ViewLink id={beatenBy} />
        </>
      )}
    </>
  );
}

interface CauseProps extends Pick<ViewExplained['built'], 'because'> {
  /** Id of the view's own entity, which is not linked. */
  readonly own: string;
}

function Cause({ because, own }: CauseProps) {
  const { tenant } = useTenant();
  if (because === null) return <>for a reason that is no longer known</>;
  const { kind, entityId } = because;
  const parts = entityId === undefined ? null : entityParts(entityId);
  const href = entityId === undefined ? null : entityHrefOf(tenant, entityId);
  return (
    <>
      because {causeTexts[kind] ?? kind}
      {parts !== null && href !== null && entityId !== own && (
        <>
          : <a href={href}>{parts.originId}</a>
        </>
      )}
    </>
  );
}

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
