/** Short messages: errors, empty states, loading and states. */
import type { ComponentChildren } from 'preact';
import type { RequestError } from '../api/request.ts';

/** An error with all its details. @param retry offered unless the same request would get the same error */
export function ErrorBox({ error, retry }: { readonly error: RequestError; readonly retry?: () => void }) {
  return (
    <div class="error-box" role="alert">
      <p>{error.message}</p>
      {error.errors.length > 0 && (
        <ul>
          {error.errors.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      {retry !== undefined && isTemporary(error) && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

function isTemporary({ status }: RequestError): boolean {
  return status === 0 || status === 429 || status >= 500;
}

/** Shown instead of missing content: why it is missing, and what to do. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

/** Shown while loading; the style sheet delays it. */
export function Loading() {
  return (
    <p class="loading" role="status">
      Loading…
    </p>
  );
}

export type Meaning = 'good' | 'warn' | 'bad' | 'quiet' | 'accent';

/** A word in a colour with the same meaning. */
export function State({
  means,
  children,
}: {
  readonly means: Meaning;
  readonly children: ComponentChildren;
}) {
  return <span class={`state ${means}`}>{children}</span>;
}
