/**
 * Compiles one TypeScript file with esbuild, the compiler in tsx, by its documented options alone. This is a fast path: tsx runs
 * the same files, but has esbuild name every function again, and then queries that filter and sort run at 0.85 of their rate
 * (bench/README.md, "Fast paths").
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const options = {
  loader: 'ts',
  format: 'esm',
  target: 'node20',
  sourcemap: 'inline',
  // The TypeScript files are there anyway. With their content, every process would read and hold them once more.
  sourcesContent: false,
};

/** Compiles files by the settings of a `tsconfig.json`. */
export class Compiler {
  #tsconfigRaw;
  /** Everything on which the output depends besides the file itself. */
  madeBy;
  #esbuild = null;

  constructor(tsconfigFile, esbuildPackageFile) {
    this.#tsconfigRaw = readFileSync(tsconfigFile, 'utf8');
    const { version } = JSON.parse(readFileSync(esbuildPackageFile, 'utf8'));
    this.madeBy = JSON.stringify([version, options, this.#tsconfigRaw]);
  }

  /** @param url of the file @param source its TypeScript @returns JavaScript @throws Error that names the place of a mistake */
  async compile(url, source) {
    this.#esbuild ??= import('esbuild');
    const { transform } = await this.#esbuild;
    const { code } = await transform(source, {
      ...options,
      tsconfigRaw: this.#tsconfigRaw,
      sourcefile: fileURLToPath(url),
    });
    return code;
  }
}
