import type { Claim, ViewExplained } from '../api/answers.ts';
import { entityParts, schemaHref, urlHref } from '../parts/addresses.ts';
import { bytesText, Moment, Time } from '../parts/format.tsx';
import { State } from '../parts/notices.tsx';
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
