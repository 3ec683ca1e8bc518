import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { asTyped } from '../../lib/typed-command.mjs';
import { hasColours, type LineTarget, type LogText } from '../terminal/log-text.ts';

const colours = [36, 33, 32, 35, 34, 31];

/** Writes the lines of many processes into one terminal or file. The name of the process is before each line. */
export class Output {
  readonly #colourByRole = new Map<string, number>();
  #nameWidth = 'worker.1'.length;
  readonly #hasColours: boolean;

  /** @param logText from `logTextFor`; null: lines are passed on as they are */
  constructor(
    private readonly target: LineTarget,
    private readonly logText: LogText | null = null,
  ) {
    this.#hasColours = hasColours(target);
  }

  /** Passes on the lines of a process for as long as it writes. */
  follow(name: string, lines: Readable): void {
    createInterface({ input: lines, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
      this.line(name, this.logText === null ? line : this.logText(line));
    });
  }

  /** @param text one line or several. Each gets the name */
  line(name: string, text: string): void {
    const prefix = this.#prefix(name);
    this.target.write(
      asTyped(text)
        .split('\n')
        .map((line) => `${prefix} ${line}\n`)
        .join(''),
    );
  }

  #prefix(name: string): string {
    this.#nameWidth = Math.max(this.#nameWidth, name.length);
    const prefix = `${name.padEnd(this.#nameWidth)} |`;
    return this.#hasColours ? `\u001b[${this.#colour(name)}m${prefix}\u001b[0m` : prefix;
  }

  #colour(name: string): number {
    const [role = name] = name.split('.');
    const known = this.#colourByRole.get(role);
    if (known !== undefined) return known;
    const colour = colours[this.#colourByRole.size % colours.length] ?? 0;
    this.#colourByRole.set(role, colour);
    return colour;
  }
}
