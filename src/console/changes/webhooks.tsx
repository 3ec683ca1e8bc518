import { useState } from 'preact/hooks';
import type { Webhook } from '../api/answers.ts';
import { request, requestErrorOf } from '../api/request.ts';
import { useGet } from '../api/use-get.ts';
import { millisecondsText, numberText, Time } from '../parts/format.tsx';
import { Empty, ErrorBox, Loading, type Meaning, State } from '../parts/notices.tsx';
import { Table } from '../parts/table.tsx';

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
        { name: 'Last attempt' },
        { name: 'Next attempt' },
        { name: 'Actions' },
      ]}
      rows={webhooks.map((webhook) => [
        <span key="alias" title={webhook.url}>
          {webhook.alias} <small class="quiet">{webhook.url}</small>
        </span>,
        <WebhookState key="state" webhook={webhook} />,
        webhook.behind === null ? '' : numberText(webhook.behind),
        webhook.lastAttemptAt === null ? (
          ''
        ) : (
          <span key="last">
            {webhook.lastStatus ?? 'no response'} <Time at={webhook.lastAttemptAt} />
          </span>
        ),
        webhook.nextAttemptAt === null ? '' : <Time key="next" at={webhook.nextAttemptAt} />,
        <Actions key="do" webhook={webhook} reload={reload} />,
      ])}
    />
  );
}

/** The state of a webhook, with advice if it does not work. */
function WebhookState({ webhook: { state, url } }: { readonly webhook: Webhook }) {
  return (
    <>
      <State means={meanings[state]}>{state}</State>
      {state === 'refused' && (
        <p class="error-text">
          <code>{hostOf(url)}</code> is not a public address. To allow it, add it to{' '}
          <code>WEBHOOK_ALLOW</code> and restart the platform.
        </p>
      )}
      {state === 'disabled' && (
        <p class="quiet">The receiver answered 410, or a restore removed the secret.</p>
      )}
    </>
  );
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : url;
}

type Message = { readonly text: string; readonly isError: boolean };

function Actions({ webhook, reload }: { readonly webhook: Webhook; readonly reload: () => void }) {
  const [message, setMessage] = useState<Message>({ text: '', isError: false });
  const path = `/webhooks/${encodeURIComponent(webhook.alias)}`;
  const act = async (what: () => Promise<string>) => {
    setMessage({ text: '…', isError: false });
    try {
      setMessage({ text: await what(), isError: false });
    } catch (error) {
      setMessage({ text: requestErrorOf(error).message, isError: true });
    }
    reload();
  };
  const enable = () => request(`${path}/enable`, { method: 'POST', body: {} });
  const tryNow = async () => {
    const answer = await request<TestAnswer>(`${path}/test`, { method: 'POST', body: {} });
    const text = `The receiver answered ${answer.status} in ${millisecondsText(answer.milliseconds)}.`;
    const isWaiting = webhook.state === 'retrying' || webhook.state === 'refused';
    if (!isWaiting || answer.status < 200 || answer.status > 299) return text;
    await enable();
    return `${text} Pending changes are sent now.`;
  };
  const replay = async () => {
    await request(`${path}/replay`, { method: 'POST', body: { since: 'beginning' } });
    return 'Sending all changes again.';
  };
  return (
    <div class="buttons">
      <button type="button" onClick={() => act(tryNow)}>
        Try now
      </button>
      {webhook.state === 'disabled' && (
        <button type="button" onClick={() => act(() => enable().then(() => 'Enabled.'))}>
          Enable
        </button>
      )}
      <button type="button" onClick={() => act(replay)}>
        Replay all
      </button>
      <span role="status" class={message.isError ? 'error-text' : undefined}>
        {message.text}
      </span>
    </div>
  );
}

/** The response of `POST /webhooks/{alias}/test`. */
interface TestAnswer {
  readonly status: number;
  readonly milliseconds: number;
}
