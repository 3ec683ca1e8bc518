/**
 * Compiles TypeScript with esbuild, the compiler in tsx, by its documented options alone. This is a fast path: tsx runs
 * the same files, but has esbuild name every function again, and then queries that filter and sort run at 0.85 of their rate
 * (bench/README.md "Fast paths").
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageModule } from './package-module.mjs';

const require = createRequire(import.meta.url);

/** A process that loads many files one by one compiles the next within that time. */
const restMs = 2_000;

const options = {
  format: 'esm',
  target: 'node20',
  sourcemap: 'inline',
  // The TypeScript files are there anyway. With their content, every process would read and hold them once more.
  sourcesContent: false,
};

export const bundleOptions = {
  ...options,
  bundle: true,
  platform: 'node',
  packages: 'external',
  // What no entry needs is kept too, so that coverage reports it.
  treeShaking: false,
  // A constant of a bundled module becomes a variable. Numbers are written in their places so: without it, queries that
  // filter and sort take a worker 1.19 times as long.
  minifySyntax: true,
  write: false,
  metafile: true,
  logLevel: 'silent',
};

/**
 * What was compiled.
 * @typedef {{ code: string, madeOf: string[] }} Compiled `madeOf`: paths of all files it was made of
 */

/** Compiles files by the settings of a `tsconfig.json`. */
export class Compiler {
  #tsconfigRaw;
  /** Everything on which the output depends besides the files themselves. */
  madeBy;
  #esbuild = null;
  #running = 0;

  constructor(tsconfigFile, esbuildPackageFile) {
    this.#tsconfigRaw = readFileSync(tsconfigFile, 'utf8');
    const { version } = JSON.parse(readFileSync(esbuildPackageFile, 'utf8'));
    this.madeBy = JSON.stringify([version, bundleOptions, this.#tsconfigRaw]);
  }

  /** Compiles one file. @param file path @returns {Promise<Compiled>} @throws Error that names the place of a mistake */
  async compile(file) {
    const text = await readFile(file, 'utf8');
    const { code } = await this.#run(({ transform }) =>
      transform(text, { ...options, loader: 'ts', tsconfigRaw: this.#tsconfigRaw, sourcefile: file }),
    );
    return { code, madeOf: [file] };
  }

  /**
   * Compiles a file and all of ours that it imports into one module. Packages stay outside of it.
   * @param file path @returns {Promise<Compiled>} @throws Error that names the place of a mistake
   */
  async bundle(file) {
    const folder = path.dirname(file);
    const { outputFiles, metafile } = await this.#run(({ build }) =>
      build({
        ...bundleOptions,
        tsconfigRaw: this.#tsconfigRaw,
        absWorkingDir: folder,
        entryPoints: [file],
        outdir: folder,
        plugins: [ownAddresses((file) => JSON.stringify(pathToFileURL(file).href))],
      }),
    );
    const madeOf = Object.keys(metafile.inputs).map((input) => path.resolve(folder, input));
    return { code: outputFiles[0].text, madeOf };
  }

  /** The module of a file in CommonJS. @param file path @returns {Promise<Compiled>} @throws Error when it is none */
  async wrap(file) {
    return packageModule(file);
  }

  /** The program of the compiler ends when it has rested: it would keep some 50 MB for as long as this process runs. */
  async #run(act) {
    this.#esbuild ??= require('esbuild');
    this.#running += 1;
    try {
      return await act(this.#esbuild);
    } finally {
      this.#running -= 1;
      setTimeout(() => this.#endIdle(), restMs).unref();
    }
  }

  #endIdle() {
    if (this.#running === 0) void this.#esbuild.stop();
  }
}

/**
 * Each file of a bundle goes on finding what lies beside it.
 * @param {(file: string) => string} addressOf an expression for the address of a file
 * @returns {import('esbuild').Plugin}
 */
export function ownAddresses(addressOf) {
  return {
    name: 'own-addresses',
    setup(build) {
      build.onLoad({ filter: /\.(?:ts|mjs)$/ }, async ({ path: file }) => {
        const source = await readFile(file, 'utf8');
        return {
          contents: source.replaceAll('import.meta.url', addressOf(file)),
          loader: file.endsWith('.ts') ? 'ts' : 'js',
        };
      });
    },
  };
}
