import { useState } from 'preact/hooks';
import { keepKey, RequestError, request } from '../api/request.ts';

interface KeyFormProps {
  /** True if the key that this tab had is no longer accepted. */
  readonly isRefused: boolean;
  readonly onKey: () => void;
}

/** Asks for the key, and stores it if it is valid. */
export function KeyForm({ isRefused, onKey }: KeyFormProps) {
  const [message, setMessage] = useState<string | null>(isRefused ? refusedText : null);
  const [isAsking, setIsAsking] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const key = String(new FormData(event.currentTarget).get('key') ?? '').trim();
    if (key === '') {
      setMessage('Enter a key.');
      return;
    }
    setIsAsking(true);
    try {
      await request('/tenant', { key });
      keepKey(key);
      onKey();
    } catch (error) {
      setMessage(messageOf(error));
      setIsAsking(false);
    }
  };
  return (
    <main class="key-page">
      <form class="panel key-form" onSubmit={submit}>
        <h1>
          <img src="/console/assets/icon.svg" alt="" width="28" height="28" /> Millrace
        </h1>
        <p>
          See what your content is made of, which pages show it, and why it last changed. Enter a management
          key of your tenant.
        </p>
        <label for="key">Management key</label>
        <input
          id="key"
          name="key"
          type="password"
          autocomplete="off"
          autofocus
          aria-describedby="key-note"
          aria-invalid={message !== null}
        />
        {message !== null && (
          <p class="error-text" role="alert">
            {message}
          </p>
        )}
        <button type="submit" class="main" disabled={isAsking}>
          Open the console
        </button>
        <p id="key-note" class="quiet">
          The key stays in this tab and is sent only to this server. You find your keys under{' '}
          <code>managementClients</code> in <code>tenant.json</code>.
        </p>
      </form>
    </main>
  );
}

const refusedText =
  'Your key is no longer accepted. Enter another one to continue here; your edits are kept.';

function messageOf(error: unknown): string {
  if (!(error instanceof RequestError)) return String(error);
  if (error.status === 401) return 'Unknown key.';
  if (error.status === 403) return 'This key is not a management key with the scope read.';
  return error.message;
}
