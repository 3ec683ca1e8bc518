/** Latencies of a reader, measured in a separate process, because a busy test would measure its own delays. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { typeScriptWords } from '../../../../src/typescript/clone-or-package.mjs';

const program = fileURLToPath(new URL('reader-process.ts', import.meta.url));

export class Reader {
  readonly #child: ChildProcess;

  /** @param urls requested in turn, one at a time */
  constructor(key: string, urls: readonly string[]) {
    this.#child = fork(program, [key, ...urls], { execArgv: [...typeScriptWords] });
  }

  /**
   * @returns the latencies in ms
   * @throws Error if an answer was not 200; the process prints which
   */
  async read(forMs: number): Promise<readonly number[]> {
    const ended = once(this.#child, 'exit').then(() => {
      throw new Error('the reader ended');
    });
    ended.catch(() => {});
    this.#child.send(forMs);
    const [latencies] = await Promise.race([once(this.#child, 'message'), ended]);
    return latencies;
  }

  close(): void {
    this.#child.kill();
  }
}
