/**
 * npm passes on the Ctrl-C of a terminal to a process that the terminal has told already. A signal this soon after the
 * first comes from the same key press.
 */
const samePressMs = 700;

const names = ['SIGINT', 'SIGTERM'] as const;

/** One request to stop, which SIGINT and SIGTERM make. */
export interface StopSignals {
  readonly signal: AbortSignal;
  /** Leaves both signals to what they do otherwise. */
  release(): void;
}

/**
 * Turns SIGINT and SIGTERM into one request to stop. A second one, from a person who does not want to wait, calls
 * `onSecond`.
 * @param reason of the request
 */
export function stopSignals(onSecond: () => void, reason: Error): StopSignals {
  const stop = new AbortController();
  let firstMs = 0;
  const request = () => {
    if (!stop.signal.aborted) {
      firstMs = performance.now();
      stop.abort(reason);
    } else if (performance.now() - firstMs > samePressMs) {
      onSecond();
    }
  };
  for (const name of names) process.on(name, request);
  return {
    signal: stop.signal,
    release: () => {
      for (const name of names) process.off(name, request);
    },
  };
}
