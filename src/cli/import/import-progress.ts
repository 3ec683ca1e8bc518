import cliProgress from 'cli-progress';
import { counted, grouped } from '../../lib/message-text.ts';
import { barSizeOf } from '../terminal/percent-bar.ts';
import type { ImportInput } from './import-lines.ts';
import type { ImportCounts } from './importer.ts';

const barEveryMs = 100;
const lineEveryMs = 5_000;

/** Shows the progress of an import: with a bar on a terminal, otherwise with a line every few seconds. */
export interface ImportProgress {
  show(counts: ImportCounts): void;
  /** Writes a separate line. */
  say(line: string): void;
  stop(): void;
}

export function showProgress(input: ImportInput): ImportProgress {
  const clock = new ImportClock(input);
  const output = process.stderr;
  return output.isTTY && input.totalBytes !== null
    ? bar(clock, input.totalBytes, output)
    : lines(clock, output);
}

/** Number of completed entities, with any result. */
export function doneEntities({ changed, unchanged, failed }: ImportCounts): number {
  return changed + unchanged + failed;
}

export class ImportClock {
  readonly #startedMs = performance.now();

  constructor(private readonly input: ImportInput) {}

  get readBytes(): number {
    return this.input.readBytes();
  }

  /** Seconds since the start. */
  seconds(): number {
    return (performance.now() - this.#startedMs) / 1000;
  }

  rate(counts: ImportCounts): string {
    const rate = Math.round(doneEntities(counts) / Math.max(this.seconds(), 0.001));
    return `${grouped(rate)} entities/s`;
  }

  /** The percentage of the file that is read, and the estimated remaining time. */
  remaining(): string | null {
    const { totalBytes } = this.input;
    if (totalBytes === null || totalBytes === 0 || this.readBytes === 0) return null;
    const share = Math.min(1, this.readBytes / totalBytes);
    const remainingSeconds = Math.ceil((this.seconds() * (1 - share)) / share);
    return `${Math.floor(share * 100)} %, about ${formatSeconds(remainingSeconds)} left`;
  }
}

/** `59 s`, `2 min 3 s` or `1 h 4 min`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

function bar(clock: ImportClock, totalBytes: number, output: NodeJS.WriteStream): ImportProgress {
  const single = new cliProgress.SingleBar(
    {
      format: '{bar} {text}',
      stream: output,
      hideCursor: true,
      barsize: barSizeOf(output),
      // Only `show` draws the bar: the library's own timer would overwrite a message at the end.
      noTTYOutput: false,
      synchronousUpdate: true,
      fps: 1000 / barEveryMs,
    },
    cliProgress.Presets.shades_classic,
  );
  single.start(Math.max(totalBytes, 1), 0, { text: 'starting' });
  let last: ImportCounts = { changed: 0, unchanged: 0, failed: 0 };
  const draw = (counts: ImportCounts) => {
    last = counts;
    single.update(clock.readBytes, { text: progressText(clock, counts) });
  };
  return {
    show: draw,
    say(line) {
      output.write(`\r\u001b[K${line}\n`);
      draw(last);
    },
    stop() {
      draw(last);
      single.stop();
    },
  };
}

function lines(clock: ImportClock, output: NodeJS.WriteStream): ImportProgress {
  let nextSeconds = lineEveryMs / 1000;
  return {
    show(counts) {
      if (clock.seconds() < nextSeconds) return;
      nextSeconds = clock.seconds() + lineEveryMs / 1000;
      output.write(`${progressText(clock, counts)}\n`);
    },
    say(line) {
      output.write(`${line}\n`);
    },
    stop() {},
  };
}

function progressText(clock: ImportClock, counts: ImportCounts): string {
  // The end of a line that is too long is cut off.
  const parts = [clock.remaining(), counted(doneEntities(counts), 'entity', 'entities'), clock.rate(counts)];
  if (counts.failed > 0) parts.push(`${counts.failed} failed`);
  return parts.filter((part) => part !== null).join(', ');
}
