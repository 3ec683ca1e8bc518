import type { Status } from '../api/answers.ts';
import { counted, millisecondsText, numberText } from '../parts/format.tsx';
import { State } from '../parts/notices.tsx';
import { Table } from '../parts/table.tsx';

const roleTexts = { web: 'front', worker: 'worker', jobs: 'jobs' } as const;

export function Processes({ processes }: Pick<Status, 'processes'>) {
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
export function Partitions({ partitions }: Pick<Status, 'partitions'>) {
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
