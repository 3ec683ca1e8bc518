import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Preview } from './answers.ts';
import { RequestError, request } from './request.ts';

export interface Got<T> {
  /** The last answer; null before the first, and of another path. */
  readonly data: T | null;
  readonly error: RequestError | null;
  reload(): void;
}

interface Held<T> {
  readonly path: string | null;
  readonly data: T | null;
  readonly error: RequestError | null;
}

/**
 * What the management interface says, now and every so often.
 * @param path after `/management/v1`; null: nothing is asked
 * @param everyMs absent: once. Nothing is asked while the tab is hidden.
 */
export function useGet<T>(path: string | null, everyMs?: number): Got<T> {
  const [held, setHeld] = useState<Held<T>>({ path: null, data: null, error: null });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (path === null) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      if (!document.hidden || everyMs === undefined) await once(path, stop.signal, setHeld);
      if (everyMs !== undefined && !stop.signal.aborted) timer = setTimeout(ask, everyMs);
    };
    void ask();
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [path, everyMs, turn]);
  const reload = useCallback(() => setTurn((former) => former + 1), []);
  const isOfPath = held.path === path;
  return { data: isOfPath ? held.data : null, error: isOfPath ? held.error : null, reload };
}

async function once<T>(
  path: string,
  signal: AbortSignal,
  hold: (next: (former: Held<T>) => Held<T>) => void,
): Promise<void> {
  try {
    const data = await request<T>(path, { signal });
    if (!signal.aborted) hold(() => ({ path, data, error: null }));
  } catch (error) {
    if (signal.aborted) return;
    const told = error instanceof RequestError ? error : new RequestError(0, String(error));
    // What was there stays: an operator wants to see the last state.
    hold((former) => ({ path, data: former.path === path ? former.data : null, error: told }));
  }
}

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
