/** Options of `repeat`. */
export interface Repetition {
  /** Pause between two runs. */
  readonly pauseMs: number;
  /** Ends the repetition, also during a pause. */
  readonly signal: AbortSignal;
  /** Called for an error that a run threw; the repetition continues. */
  onError(error: unknown): void;
}

/** @returns after the signal, once the last run has ended */
export async function repeat(
  act: () => void | Promise<void>,
  { pauseMs, signal, onError }: Repetition,
): Promise<void> {
  let endPause = () => {};
  signal.addEventListener('abort', () => endPause(), { once: true });
  while (!signal.aborted) {
    try {
      await act();
    } catch (error) {
      onError(error);
    }
    if (signal.aborted) return;
    // A timer with its own abort listener would cost more than most repeated work.
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pauseMs);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
