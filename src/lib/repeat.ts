import { setTimeout } from 'node:timers/promises';

/** How something is done again and again. */
export interface Repetition {
  /** Between the end of one time and the beginning of the next. */
  readonly pauseMs: number;
  /** Ends it, also in the middle of a pause. */
  readonly signal: AbortSignal;
  /** Told of what a time threw, which does not end it. */
  onError(error: unknown): void;
}

/** @returns when the signal has ended it and the last time is over */
export async function repeat(
  act: () => void | Promise<void>,
  { pauseMs, signal, onError }: Repetition,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await act();
    } catch (error) {
      onError(error);
    }
    await setTimeout(pauseMs, undefined, { signal }).catch(() => {});
  }
}
