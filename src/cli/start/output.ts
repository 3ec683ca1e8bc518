import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

const colours = [36, 33, 32, 35, 34, 31];

/** A terminal or a file, as far as it matters here. */
export interface LineTarget {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Writes the lines of many processes into one terminal, each with the name of the process before it. */
export class Output {
  private readonly colourByRole = new Map<string, number>();
  private nameWidth = 'worker.1'.length;

  constructor(private readonly stream: LineTarget) {}

  /** Passes the lines of a process on for as long as it writes. */
  follow(name: string, lines: Readable): void {
    createInterface({ input: lines, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
      this.line(name, line);
    });
  }

  line(name: string, text: string): void {
    this.stream.write(`${this.prefix(name)} ${text}\n`);
  }

  private prefix(name: string): string {
    this.nameWidth = Math.max(this.nameWidth, name.length);
    const prefix = `${name.padEnd(this.nameWidth)} |`;
    return this.stream.isTTY ? `\u001b[${this.colour(name)}m${prefix}\u001b[0m` : prefix;
  }

  private colour(name: string): number {
    const [role = name] = name.split('.');
    const known = this.colourByRole.get(role);
    if (known !== undefined) return known;
    const colour = colours[this.colourByRole.size % colours.length] ?? 0;
    this.colourByRole.set(role, colour);
    return colour;
  }
}
