/**
 * npm passes on the Ctrl-C of a terminal to a process that the terminal has told already. A signal this soon after the
 * first comes from the same key press.
 */
const samePressMs = 700;

/**
 * Turns SIGINT and SIGTERM into one request to stop. A second one, from a person who does not want to wait, calls
 * `onSecond`.
 */
export function stopSignals(onSecond: () => void): AbortSignal {
  const stop = new AbortController();
  let firstMs = 0;
  const request = () => {
    if (!stop.signal.aborted) {
      firstMs = performance.now();
      stop.abort(new StopRequest());
    } else if (performance.now() - firstMs > samePressMs) {
      onSecond();
    }
  };
  process.on('SIGINT', request);
  process.on('SIGTERM', request);
  return stop.signal;
}

/** The reason of a requested stop, which is no failure. */
export class StopRequest extends Error {}
