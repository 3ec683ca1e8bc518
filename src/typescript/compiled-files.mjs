/**
 * Caches compiled code in files, so that later processes start no compiler. This is a fast path: without it `npm start` takes
 * 1.56 times as long until it is ready (bench/README.md "Fast paths").
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { threadId } from 'node:worker_threads';

/** Begins the last line of a cached file: a comment that says what it was compiled from. */
const sourcesMark = '\n// Sources: ';

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
   * @param {'compile' | 'wrap'} how a TypeScript file, or a CommonJS file
   * @param file path
   * @returns text or bytes
   */
  async read(how, file) {
    const keptFile = this.#fileOf(how, file);
    const kept = this.#readKept(keptFile);
    if (kept !== null) return kept;
    const { code, madeOf } = await this.#compiler[how](file);
    this.#keep(keptFile, madeOf, code);
    return code;
  }

  /**
   * A TypeScript file with all that it imports, as a module in the cache that Node can import without our hooks.
   * @param file path
   * @returns its path; null if it cannot be cached
   */
  async module(file) {
    const keptFile = this.#fileOf('bundle', file);
    if (this.#readKept(keptFile) !== null) return keptFile;
    const { code, map, madeOf } = await this.#compiler.bundle(file);
    const mapName = `${path.basename(keptFile)}.map`;
    const isKept = this.#keep(keptFile, madeOf, `${code}//# sourceMappingURL=${mapName}`, map);
    return isKept ? keptFile : null;
  }

  #fileOf(how, file) {
    return path.join(this.#folder, `${digestOf([how, file])}.mjs`);
  }

  /** @returns bytes; null if nothing is cached, or if a source or the compiler has changed since */
  #readKept(keptFile) {
    try {
      const bytes = readFileSync(keptFile);
      const codeEnd = bytes.lastIndexOf(sourcesMark);
      const { madeOf, digest } = JSON.parse(bytes.toString('utf8', codeEnd + sourcesMark.length));
      return digest === this.#digestOfSources(madeOf) ? bytes.subarray(0, codeEnd) : null;
    } catch {
      return null;
    }
  }

  /**
   * Caches a file.
   * @returns false if that failed: then the next process compiles it again
   */
  #keep(keptFile, madeOf, code, map = null) {
    try {
      mkdirSync(this.#folder, { recursive: true });
      if (map !== null) write(`${keptFile}.map`, map);
      const sources = JSON.stringify({ madeOf, digest: this.#digestOfSources(madeOf) });
      write(keptFile, code + sourcesMark + sources);
      return true;
    } catch {
      return false;
    }
  }

  #digestOfSources(files) {
    return digestOf([this.#compiler.madeBy, ...files.map((file) => readFileSync(file))]);
  }
}

/** Other processes may read or write the file at the same time, so it is written under a temporary name first. */
function write(file, text) {
  const draftFile = `${file}.${process.pid}.${threadId}`;
  writeFileSync(draftFile, text);
  renameSync(draftFile, file);
}

function digestOf(pieces) {
  const hash = createHash('sha1');
  for (const piece of pieces) hash.update(`${piece.length}\0`).update(piece);
  return hash.digest('hex');
}
