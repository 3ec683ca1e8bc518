import { CommandStop } from './command-line.ts';

/**
 * npm passes on the Ctrl-C of a terminal to a process that already got it from the terminal. A signal this soon after the
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

/** Exit code of a command that a person broke off, as shells have it for SIGINT. */
export const interruptedCode = 130;

/**
 * Does what a person may break off by Ctrl-C. A second Ctrl-C ends the process immediately.
 * @param line says what stays of it, or continues without the command
 * @param act ends soon after its signal is aborted, however it ends
 * @throws CommandStop with the line, when it was broken off
 */
export async function interruptible<T>(line: string, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = stopSignals(() => process.exit(interruptedCode), new CommandStop(line, interruptedCode));
  try {
    return await act(stop.signal);
  } catch (error) {
    stop.signal.throwIfAborted();
    throw error;
  } finally {
    // What npm passes on of the same Ctrl-C would end the process before it has closed what it opened.
    if (!stop.signal.aborted) stop.release();
  }
}
