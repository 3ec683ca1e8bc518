import { CommandStop, interruptedCode } from './command-line.ts';

/**
 * npm passes on a Ctrl-C to a process that has already received it from the terminal. A signal this soon after the first one is
 * from the same key press.
 */
const samePressMs = 700;

const names = ['SIGINT', 'SIGTERM'] as const;

/** A request to stop, by SIGINT or SIGTERM. */
export interface StopSignals {
  readonly signal: AbortSignal;
  /** Restores the default behaviour of both signals. */
  release(): void;
}

/**
 * Turns SIGINT and SIGTERM into one request to stop. A second signal, from a user who does not want to wait, calls `onSecond`.
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

/**
 * Runs work that Ctrl-C interrupts. A second Ctrl-C ends the process immediately.
 * @param line message about what remains, or continues without the command
 * @param act must end soon after its signal is aborted
 * @throws CommandStop with the line if it was interrupted
 */
export async function interruptible<T>(line: string, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = stopSignals(() => process.exit(interruptedCode), new CommandStop(line, interruptedCode));
  try {
    return await act(stop.signal);
  } catch (error) {
    stop.signal.throwIfAborted();
    throw error;
  } finally {
    // After a Ctrl-C the handlers stay: the signal that npm passes on would end the process before it has cleaned up.
    if (!stop.signal.aborted) stop.release();
  }
}
