/**
 * Caches compiled code in files, so that later processes start no compiler. This is a fast path: without it `npm start` takes
 * 1.56 times as long until it is ready (bench/README.md "Fast paths").
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { threadId } from 'node:worker_threads';

const lineEnd = 0x0a;

export class CompiledFiles {
  #folder;
  #compiler;

  /**
   * @param folder created when something is cached
   * @param compiler from `compile.mjs`
   */
  constructor(folder, compiler) {
    this.#folder = folder;
    this.#compiler = compiler;
  }

  /**
   * The JavaScript of a file, from the cache or compiled now.
   * @param {'compile' | 'bundle' | 'wrap'} how a TypeScript file alone, or with all that it imports; or a CommonJS file
   * @param file path
   * @returns text or bytes
   */
  async read(how, file) {
    const keptFile = path.join(this.#folder, `${digestOf([how, file])}.js`);
    const kept = this.#readKept(keptFile);
    if (kept !== null) return kept;
    const { code, madeOf } = await this.#compiler[how](file);
    this.#keep(keptFile, madeOf, code);
    return code;
  }

  /** @returns bytes; null if nothing is cached, or if a source or the compiler has changed since */
  #readKept(keptFile) {
    try {
      const bytes = readFileSync(keptFile);
      const headEnd = bytes.indexOf(lineEnd);
      const { madeOf, digest } = JSON.parse(bytes.toString('utf8', 0, headEnd));
      return digest === this.#digestOfSources(madeOf) ? bytes.subarray(headEnd + 1) : null;
    } catch {
      return null;
    }
  }

  /**
   * Caches a file. Other processes may read or write it at the same time, so it is written under a temporary name first. If
   * this fails, nothing is cached.
   */
  #keep(keptFile, madeOf, code) {
    const draftFile = `${keptFile}.${process.pid}.${threadId}`;
    try {
      mkdirSync(this.#folder, { recursive: true });
      const head = JSON.stringify({ madeOf, digest: this.#digestOfSources(madeOf) });
      writeFileSync(draftFile, `${head}\n${code}`);
      renameSync(draftFile, keptFile);
    } catch {
      // The next process compiles it again.
    }
  }

  #digestOfSources(files) {
    return digestOf([this.#compiler.madeBy, ...files.map((file) => readFileSync(file))]);
  }
}

function digestOf(pieces) {
  const hash = createHash('sha1');
  for (const piece of pieces) hash.update(`${piece.length}\0`).update(piece);
  return hash.digest('hex');
}
