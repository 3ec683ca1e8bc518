/**
 * Keeps compiled code in files, so that a later process starts no compiler. This is a fast path: without it `npm start`
 * takes 1.56 times as long until it is ready (bench/README.md, "Fast paths").
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { threadId } from 'node:worker_threads';

const digestLength = 40;

export class CompiledFiles {
  #folder;
  #compiler;

  /** @param folder is made when something is kept @param compiler from `compile.mjs` */
  constructor(folder, compiler) {
    this.#folder = folder;
    this.#compiler = compiler;
  }

  /** The JavaScript of a TypeScript file, as it was kept or compiled now. @returns text or bytes */
  async read(url) {
    const source = readFileSync(new URL(url));
    const digest = digestOf(this.#compiler.madeBy, url, source);
    const file = path.join(this.#folder, `${digestOf(url)}.js`);
    const kept = readKept(file, digest);
    if (kept !== null) return kept;
    const code = await this.#compiler.compile(url, source);
    this.#keep(file, digest + code);
    return code;
  }

  /**
   * Keeps a file. Other processes may read or write it meanwhile, so it is written under another name first. Where
   * nothing can be written, nothing is kept.
   */
  #keep(file, text) {
    const draftFile = `${file}.${process.pid}.${threadId}`;
    try {
      mkdirSync(this.#folder, { recursive: true });
      writeFileSync(draftFile, text);
      renameSync(draftFile, file);
    } catch {
      // The next process compiles it again.
    }
  }
}

function digestOf(...pieces) {
  const hash = createHash('sha1');
  for (const piece of pieces) hash.update(piece).update('\0');
  return hash.digest('hex');
}

/** @returns bytes; null when nothing is kept, or the source or the compiler has changed since */
function readKept(file, digest) {
  try {
    const kept = readFileSync(file);
    return kept.latin1Slice(0, digestLength) === digest ? kept.subarray(digestLength) : null;
  } catch {
    return null;
  }
}
