import cliProgress from 'cli-progress';
import { interruptible } from './command-line.ts';

const linesEveryMs = 2_000;

/** Leaves room for the text next to a bar. */
const textCharacters = 60;

/** The length of a bar that fits the terminal. */
export function barSizeOf({ columns }: NodeJS.WriteStream): number {
  return Math.max(5, Math.min(30, columns - textCharacters));
}

/**
 * Shows a bar during work that can be interrupted.
 * @param whenStopped see `line` of `interruptible`
 * @throws CommandStop with `whenStopped` if it was interrupted
 */
export async function withBar<T>(
  whenStopped: string,
  act: (bar: PercentBar, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return await interruptible(whenStopped, async (signal) => {
    const bar = new PercentBar();
    try {
      return await act(bar, signal);
    } finally {
      bar.stop();
    }
  });
}

/** Progress in percent, at most 99: the caller shows 100 at the end. */
export function percentOf(done: number, total: number): number {
  return Math.min(99, Math.floor((100 * done) / Math.max(1, total)));
}

/** Shows progress: with a bar on a terminal; otherwise with a line at the beginning, every few seconds, and at the end. */
export class PercentBar {
  readonly #bar: cliProgress.SingleBar | null;
  #lineMs = Number.NEGATIVE_INFINITY;
  #lastLine = '';

  constructor(private readonly output: NodeJS.WriteStream = process.stderr) {
    this.#bar = output.isTTY
      ? new cliProgress.SingleBar(
          {
            format: '{bar} {percentage} % {text}',
            stream: output,
            hideCursor: true,
            barsize: barSizeOf(output),
            clearOnComplete: true,
          },
          cliProgress.Presets.shades_classic,
        )
      : null;
    this.#bar?.start(100, 0, { text: '' });
  }

  /** @param percent 0 to 100 */
  show(percent: number, text: string): void {
    if (this.#bar !== null) {
      this.#bar.update(percent, { text });
      return;
    }
    const line = `${percent} % ${text}`;
    const isDue = performance.now() - this.#lineMs >= linesEveryMs || percent === 100;
    if (!isDue || line === this.#lastLine) return;
    this.#lineMs = performance.now();
    this.#lastLine = line;
    this.output.write(`${line}\n`);
  }

  /** Writes a line above the bar. */
  say(line: string, stream: NodeJS.WriteStream = this.output): void {
    if (this.#bar !== null && stream.isTTY) this.output.write('\r\u001b[K');
    stream.write(`${line}\n`);
  }

  stop(): void {
    this.#bar?.stop();
  }
}
