/** Short messages of pages: what is wrong, what is not there, what takes time, and states. */
import type { ComponentChildren } from 'preact';
import type { RequestError } from '../api/request.ts';

/** What is wrong, all of it. */
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
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** In the place of what is not there: why, and what to do. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

/** Shown where something takes longer than one notices (the style sheet delays it). */
export function Loading() {
  return (
    <p class="loading" role="status">
      Loading…
    </p>
  );
}

export type Meaning = 'good' | 'warn' | 'bad' | 'quiet' | 'accent';

/** A word whose colour says what it means; the word says it too. */
export function State({
  means,
  children,
}: {
  readonly means: Meaning;
  readonly children: ComponentChildren;
}) {
  return <span class={`state ${means}`}>{children}</span>;
}
