import type { Status } from '../api/answers.ts';
import { counted, numberText } from '../parts/numbers.ts';
import { State } from '../parts/state.tsx';
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
          { name: 'Does' },
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
              waits for {waitingFor.join(', ')}
            </State>
          ),
        ])}
      />
    </section>
  );
}
