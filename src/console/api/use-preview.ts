import { useEffect, useState } from 'preact/hooks';
import type { Preview } from './answers.ts';
import { RequestError, request } from './request.ts';

const typingMs = 300;

export interface Previewed {
  readonly preview: Preview | null;
  readonly error: RequestError | null;
}

/**
 * What a schema makes of an entity. Asks a moment after the last change, and keeps the former answer meanwhile.
 * @param body of `POST /preview`; null: nothing is asked
 */
export function usePreview(body: object | null): Previewed {
  const [previewed, setPreviewed] = useState<Previewed>({ preview: null, error: null });
  const text = body === null ? null : JSON.stringify(body);
  const isFirst = previewed.preview === null && previewed.error === null;
  useEffect(() => {
    if (text === null) return;
    const stop = new AbortController();
    const timer = setTimeout(
      () => {
        request<Preview>('/preview', { method: 'POST', body: JSON.parse(text), signal: stop.signal }).then(
          (preview) => setPreviewed({ preview, error: null }),
          (error: unknown) => {
            if (stop.signal.aborted) return;
            const told = error instanceof RequestError ? error : new RequestError(0, String(error));
            setPreviewed({ preview: null, error: told });
          },
        );
      },
      isFirst ? 0 : typingMs,
    );
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text]);
  return previewed;
}

/** What a preview made, as it is compared. */
export function madeOf({ view, item, urls, handles }: Preview): object {
  return item === undefined ? { view, urls, handles } : { item };
}
