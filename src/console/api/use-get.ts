import { useCallback, useEffect, useState } from 'preact/hooks';
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
