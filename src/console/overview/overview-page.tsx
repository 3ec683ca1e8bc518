import type { ComponentChildren } from 'preact';
import type { Status } from '../api/answers.ts';
import { useGet } from '../api/use-get.ts';
import { pageHref } from '../parts/addresses.ts';
import { bytesText, counted, millisecondsText, numberText } from '../parts/format.tsx';
import { Empty, ErrorBox, Loading, type Meaning, State } from '../parts/notices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Table } from '../parts/table.tsx';
import { useTenant } from '../parts/tenant-context.ts';
import { Charts } from './charts.tsx';
import { Diagnostics } from './diagnostics.tsx';

const everyMs = 2000;

export function OverviewPage() {
  const { tenant } = useTenant();
  const { data: status, error, reload } = useGet<Status>('/status', everyMs);
  return (
    <>
      <PageHead
        title="Overview"
        about={
          <>
            What the sources of <strong>{tenant.alias}</strong> have pushed, what Millrace has built from it,
            and whether the workers keep up.
          </>
        }
      />
      {error !== null && <ErrorBox error={error} retry={reload} />}
      {status === null ? error === null && <Loading /> : <StatusTiles status={status} />}
    </>
  );
}

function StatusTiles({ status }: { readonly status: Status }) {
  const { tenant } = useTenant();
  const entities = sum(tenant.sourceGroups.flatMap(({ types }) => types.map((one) => one.entities)));
  const views = sum(tenant.schemas.map((schema) => schema.views));
  const items = sum(status.indexes.map((index) => index.items));
  const backlog = sum(status.partitions.map((partition) => partition.backlog));
  const lagMs = Math.max(0, ...status.partitions.map((partition) => partition.lagMs));
  const { usedBytes, maxBytes } = status.redis;
  return (
    <>
      <dl class="tiles">
        <Tile name="Entities" value={numberText(entities)} href={pageHref('content')} />
        <Tile name="Views" value={numberText(views)} href={pageHref('schemas')} />
        <Tile name="Index items" value={numberText(items)} href={pageHref('query')} />
        <Tile name="Pending changes" value={numberText(backlog)} means={backlog > 0 ? 'warn' : 'good'} />
        <Tile name="Lag" value={millisecondsText(lagMs)} means={lagMs > 1000 ? 'warn' : 'good'} />
        <Tile name="Redis memory" value={bytesText(usedBytes)}>
          {maxBytes === null ? 'no limit' : `of ${bytesText(maxBytes)}`}
        </Tile>
      </dl>
      <Charts status={status} />
      <Rebuilds rebuilds={status.rebuilds} />
      <Diagnostics />
      <Processes processes={status.processes} />
      <Partitions partitions={status.partitions} />
    </>
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function Rebuilds({ rebuilds }: Pick<Status, 'rebuilds'>) {
  return (
    <section>
      <h2>Rebuilds</h2>
      {rebuilds.length === 0 ? (
        <Empty>No rebuild is running. The progress after a schema change appears here.</Empty>
      ) : (
        <ul class="rows">
          {rebuilds.map(({ what, done, total, etaSeconds }) => (
            <li key={what} class="rebuild">
              <span>{what}</span>
              <progress value={done} max={Math.max(1, total)} aria-label={what} />
              <span class="number">
                {numberText(done)} of {numberText(total)}
                {etaSeconds !== null && `, about ${numberText(etaSeconds)} s left`}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

interface TileProps {
  readonly name: string;
  readonly value: string;
  readonly means?: Meaning;
  readonly href?: string;
  readonly children?: ComponentChildren;
}

/** A number with its label. */
function Tile({ name, value, means = 'quiet', href, children }: TileProps) {
  return (
    <div class="tile">
      <dt>{href === undefined ? name : <a href={href}>{name}</a>}</dt>
      <dd class={means}>
        {value}
        {children !== undefined && <small>{children}</small>}
      </dd>
    </div>
  );
}

const roleTexts = { web: 'front', worker: 'worker', jobs: 'jobs' } as const;

function Processes({ processes }: Pick<Status, 'processes'>) {
  const sorted = [...processes].sort((a, b) => a.role.localeCompare(b.role) || a.id.localeCompare(b.id));
  return (
    <section>
      <h2>Processes</h2>
      <Table
        label="Processes"
        heads={[
          { name: 'Process' },
          { name: 'Host' },
          { name: 'Version' },
          { name: 'Role' },
          { name: 'State' },
        ]}
        rows={sorted.map(({ id, role, host, pid, version, partitions, waitingFor, requestsPerSecond }) => [
          <code key="id">{id}</code>,
          `${host}, ${pid}`,
          version ?? 'unknown',
          role === 'web'
            ? `${roleTexts[role]}, ${numberText(requestsPerSecond ?? 0)} requests/s`
            : role === 'worker'
              ? `${roleTexts[role]}, ${counted(partitions.length, 'partition')}`
              : roleTexts[role],
          waitingFor.length === 0 ? (
            <State key="state" means="good">
              ready
            </State>
          ) : (
            <State key="state" means="warn">
              waiting for {waitingFor.join(', ')}
            </State>
          ),
        ])}
      />
    </section>
  );
}

type Partition = Status['partitions'][number];

const lateMs = 1000;

/** The partitions with their lag, grouped by owner so that a thousand of them remain readable. */
function Partitions({ partitions }: Pick<Status, 'partitions'>) {
  const owners = [...new Set(partitions.map(({ owner }) => owner))].sort(byOwner);
  return (
    <section>
      <h2>Partitions</h2>
      {owners.map((owner) => (
        <Owned
          key={owner}
          owner={owner}
          partitions={partitions.filter((partition) => partition.owner === owner)}
        />
      ))}
    </section>
  );
}

/** Partitions without an owner come first. */
function byOwner(a: string | null, b: string | null): number {
  if (a === null || b === null) return a === null ? -1 : 1;
  return a.localeCompare(b);
}

interface OwnedProps {
  readonly owner: string | null;
  readonly partitions: readonly Partition[];
}

function Owned({ owner, partitions }: OwnedProps) {
  return (
    <div class="panel owned">
      <h3>
        {owner === null ? <State means="bad">no owner</State> : <code>{owner}</code>}{' '}
        <small class="quiet">{counted(partitions.length, 'partition')}, each with its lag</small>
      </h3>
      <ul class="partitions" aria-label={`Partitions of ${owner ?? 'no worker'}`}>
        {partitions.map(({ partition, backlog, lagMs }) => (
          <li key={partition} class={lagMs > lateMs || owner === null ? 'partition late' : 'partition'}>
            <span>{partition}</span> <span>{millisecondsText(lagMs)}</span>
            {backlog > 0 && <small>{numberText(backlog)} waiting</small>}
          </li>
        ))}
      </ul>
    </div>
  );
}
