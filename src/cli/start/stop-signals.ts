/**
 * npm passes the Ctrl-C of a terminal on to a process that has had it from the terminal already. What comes this soon
 * after the first is the same key press.
 */
const samePressMs = 700;

/**
 * Turns SIGINT, SIGTERM and a closed terminal into one request to stop. A second one, from somebody who does not want
 * to wait, calls `onSecond`.
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

/** Somebody asked to stop: no failure. */
export class StopRequest extends Error {}
