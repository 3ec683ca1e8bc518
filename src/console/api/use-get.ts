import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Preview } from './answers.ts';
import { type RequestError, request, requestErrorOf } from './request.ts';

export interface Got<T> {
  /** The latest response; null before the first one, and after the path changes. */
  readonly data: T | null;
  readonly error: RequestError | null;
  reload(): void;
}

interface GetState<T> {
  readonly path: string | null;
  readonly data: T | null;
  readonly error: RequestError | null;
}

/**
 * Requests a resource of the management interface, once or periodically.
 * @param path after `/management/v1`; null: no request
 * @param everyMs poll interval; absent: once. There is no polling while the tab is hidden.
 */
export function useGet<T>(path: string | null, everyMs?: number): Got<T> {
  const [state, setState] = useState<GetState<T>>({ path: null, data: null, error: null });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (path === null) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const poll = async () => {
      if (!document.hidden || everyMs === undefined) await once(path, stop.signal, setState);
      if (everyMs !== undefined && !stop.signal.aborted) timer = setTimeout(poll, everyMs);
    };
    void poll();
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [path, everyMs, turn]);
  const reload = useCallback(() => setTurn((former) => former + 1), []);
  const isOfPath = state.path === path;
  return { data: isOfPath ? state.data : null, error: isOfPath ? state.error : null, reload };
}

async function once<T>(
  path: string,
  signal: AbortSignal,
  update: (next: (former: GetState<T>) => GetState<T>) => void,
): Promise<void> {
  try {
    const data = await request<T>(path, { signal });
    if (!signal.aborted) update(() => ({ path, data, error: null }));
  } catch (error) {
    if (signal.aborted) return;
    // Keep the previous data, so that operators see the last state.
    update((former) => ({
      path,
      data: former.path === path ? former.data : null,
      error: requestErrorOf(error),
    }));
  }
}

const typingMs = 300;

interface PreviewState {
  readonly preview: Preview | null;
  readonly error: RequestError | null;
}

export interface Previewed extends PreviewState {
  retry(): void;
}

/**
 * Previews a schema for an entity. Debounces changes, and keeps the previous result meanwhile.
 * @param body of `POST /preview`; null: no request
 */
export function usePreview(body: object | null): Previewed {
  const [previewed, setPreviewed] = useState<PreviewState>({ preview: null, error: null });
  const [turn, setTurn] = useState(0);
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
            if (!stop.signal.aborted) setPreviewed({ preview: null, error: requestErrorOf(error) });
          },
        );
      },
      isFirst ? 0 : typingMs,
    );
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, turn]);
  return { ...previewed, retry: () => setTurn(turn + 1) };
}

/** The parts of a preview that are compared. */
export function madeOf({ view, item, urls, handles }: Preview): object {
  return item === undefined ? { view, urls, handles } : { item };
}
