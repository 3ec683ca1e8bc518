import type { Status } from '../api/answers.ts';
import { counted, millisecondsText, numberText } from '../parts/numbers.ts';
import { State } from '../parts/state.tsx';

type Partition = Status['partitions'][number];

const lateMs = 1000;

/** Each partition with its lag, under the worker that owns it: a thousand of them can still be read. */
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

/** What nobody owns comes first. */
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
        {owner === null ? <State means="bad">nobody owns these</State> : <code>{owner}</code>}{' '}
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
