import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { CommandStop } from '../terminal/command-stop.ts';
import type { Failure } from './records.ts';

/** Writes the lines that failed, as NDJSON beside the imported file. There is no file while nothing failed. */
export class FailureFile {
  #descriptor: number | null = null;
  #first: Pick<Failure, 'line' | 'errors'> | null = null;

  /** Removes the file of an earlier import. */
  constructor(readonly file: string) {
    rmSync(file, { force: true });
  }

  /** The failure of the earliest line; null while nothing failed. */
  get first(): Pick<Failure, 'line' | 'errors'> | null {
    return this.#first;
  }

  /** Writes failures at once, so that the file is whole however the import ends. */
  add(failures: readonly Failure[]): void {
    if (failures.length === 0) return;
    for (const { line, errors } of failures) {
      if (this.#first === null || line < this.#first.line) this.#first = { line, errors };
    }
    const text = failures.map((failure) => `${failureText(failure)}\n`).join('');
    try {
      this.#descriptor ??= openSync(this.file, 'w');
      writeSync(this.#descriptor, text);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new CommandStop(`The file with the failed lines cannot be written: ${reason}`);
    }
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }
}

/** A line of the file. The entity is the text that was read, so that no number in it is changed. */
function failureText({ entity, ...failure }: Failure): string {
  // Outside of strings line ends are white space, and within strings JSON has none.
  return `${JSON.stringify(failure).slice(0, -1)},"entity":${entity.replace(/[\r\n]+/g, ' ')}}`;
}
