import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { asTyped } from '../../lib/typed-command.mjs';
import { hasColours, type LineTarget, type LogText } from '../terminal/log-text.ts';

const colours = [36, 33, 32, 35, 34, 31];

/** Writes the lines of many processes to one terminal or file, each with the name of its process. */
export class Output {
  readonly #colourByRole = new Map<string, number>();
  #nameWidth = 'worker.1'.length;
  readonly #hasColours: boolean;

  /** @param logText from `logTextFor`; null to pass on lines unchanged */
  constructor(
    private readonly target: LineTarget,
    private readonly logText: LogText | null = null,
  ) {
    this.#hasColours = hasColours(target);
  }

  /** Passes on the output of a process, line by line. */
  follow(name: string, lines: Readable): void {
    createInterface({ input: lines, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
      this.line(name, this.logText === null ? line : this.logText(line));
    });
  }

  /** @param text one or more lines; each gets the prefix */
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
