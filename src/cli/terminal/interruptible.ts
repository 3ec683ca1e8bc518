import { CommandStop } from './command-stop.ts';
import { stopSignals } from './stop-signals.ts';

/** Exit code of a command that a person broke off, as shells have it for SIGINT. */
export const interruptedCode = 130;

/**
 * Does what a person may break off by Ctrl-C. A second Ctrl-C ends the process immediately.
 * @param line says what stays of it, or goes on without the command
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
