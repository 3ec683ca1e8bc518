/** How something is done again and again. */
export interface Repetition {
  /** Between the end of one run and the beginning of the next. */
  readonly pauseMs: number;
  /** Ends it, also in the middle of a pause. */
  readonly signal: AbortSignal;
  /** Called for an error that a run threw; the repetition continues. */
  onError(error: unknown): void;
}

/** @returns when the signal has ended the repetition and the last run is over */
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
    // A pause that listens to the signal itself would cost more than most of what is repeated.
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pauseMs);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
