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
