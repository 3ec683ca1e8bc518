import { useState } from 'preact/hooks';
import type { Webhook } from '../api/answers.ts';
import { RequestError, request } from '../api/request.ts';
import { useGet } from '../api/use-get.ts';
import { Empty } from '../parts/empty.tsx';
import { ErrorBox } from '../parts/error-box.tsx';
import { Loading } from '../parts/loading.tsx';
import { millisecondsText, numberText } from '../parts/numbers.ts';
import { type Meaning, State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

const everyMs = 3000;
const meanings: Readonly<Record<Webhook['state'], Meaning>> = {
  ok: 'good',
  retrying: 'warn',
  refused: 'bad',
  disabled: 'bad',
};

export function Webhooks() {
  const { data, error, reload } = useGet<{ readonly webhooks: readonly Webhook[] }>('/webhooks', everyMs);
  return (
    <section>
      <h2>Webhooks</h2>
      {error !== null && <ErrorBox error={error} retry={reload} />}
      {data === null && error === null && <Loading />}
      {data?.webhooks.length === 0 && (
        <Empty>
          No webhooks. Add one to <code>webhooks</code> in <code>tenant.json</code>; it receives every change
          from then on.
        </Empty>
      )}
      {data !== null && data.webhooks.length > 0 && <List webhooks={data.webhooks} reload={reload} />}
    </section>
  );
}

function List({ webhooks, reload }: { readonly webhooks: readonly Webhook[]; readonly reload: () => void }) {
  return (
    <Table
      label="Webhooks"
      heads={[
        { name: 'Webhook' },
        { name: 'State' },
        { name: 'Behind', isNumber: true },
        { name: 'Last', isNumber: true },
        { name: 'Next' },
        { name: 'Do' },
      ]}
      rows={webhooks.map((webhook) => [
        <span key="alias" title={webhook.url}>
          {webhook.alias} <small class="quiet">{webhook.url}</small>
        </span>,
        <State key="state" means={meanings[webhook.state]}>
          {webhook.state}
        </State>,
        webhook.behind === null ? '' : numberText(webhook.behind),
        <span key="last">
          {webhook.lastStatus ?? ''} {webhook.lastAttemptAt !== null && <Time at={webhook.lastAttemptAt} />}
        </span>,
        webhook.nextAttemptAt === null ? '' : <Time key="next" at={webhook.nextAttemptAt} />,
        <Actions key="do" webhook={webhook} reload={reload} />,
      ])}
    />
  );
}

function Actions({ webhook, reload }: { readonly webhook: Webhook; readonly reload: () => void }) {
  const [told, setTold] = useState('');
  const path = `/webhooks/${encodeURIComponent(webhook.alias)}`;
  const act = async (what: string, body: unknown, words: (answer: unknown) => string) => {
    setTold('…');
    try {
      setTold(words(await request(`${path}/${what}`, { method: 'POST', body })));
      reload();
    } catch (error) {
      setTold(error instanceof RequestError ? error.message : String(error));
    }
  };
  return (
    <div class="buttons">
      <button type="button" onClick={() => act('test', {}, testText)}>
        Test
      </button>
      {webhook.state === 'disabled' && (
        <button type="button" onClick={() => act('enable', {}, () => 'Enabled')}>
          Enable
        </button>
      )}
      <button
        type="button"
        onClick={() => act('replay', { since: 'beginning' }, () => 'Sending all changes again')}
      >
        Replay all
      </button>
      <span role="status">{told}</span>
    </div>
  );
}

function testText(answer: unknown): string {
  if (typeof answer !== 'object' || answer === null || !('status' in answer)) return 'Sent';
  const took = 'milliseconds' in answer ? ` in ${millisecondsText(Number(answer.milliseconds))}` : '';
  return `Answered ${String(answer.status)}${took}`;
}
