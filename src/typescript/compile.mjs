/**
 * Compiles TypeScript with esbuild, the compiler in tsx, using only documented options. This is a fast path: tsx runs the same
 * files, but makes esbuild set the name of every function again, and then queries that filter and sort run at 0.85 of their
 * rate (bench/README.md "Fast paths").
 *
 * Where files are compiled one by one, a CommonJS package becomes a module that loads it with `require` and lists its exports.
 * Otherwise Node finds these names by parsing each file of the package, in JavaScript. This is also a fast path: without it, a
 * platform takes 1.14 times the processor time until it is ready.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { types } from 'node:util';

const require = createRequire(import.meta.url);

/** A process that loads many files one after another compiles the next one within this time. */
const restMs = 2_000;

const options = {
  format: 'esm',
  target: 'node20',
  sourcemap: 'inline',
  // Every process would read and hold the content of the TypeScript files once more, although the files exist.
  sourcesContent: false,
};

export const bundleOptions = {
  ...options,
  bundle: true,
  platform: 'node',
  packages: 'external',
  // Bundling turns the constants of modules into variables. This inlines numbers: without it, queries that filter and sort take
  // a worker 1.19 times as long.
  minifySyntax: true,
  write: false,
  metafile: true,
  logLevel: 'silent',
};

const moduleOptions = {
  ...bundleOptions,
  packages: 'bundle',
  // They have binary files or read files of their own, or they are large and few processes need them.
  external: [
    '@modelcontextprotocol/server',
    'esbuild',
    'esbuild-wasm',
    'msgpackr',
    'pino-pretty',
    'ses',
    'typescript',
  ],
  // Node goes through each character of a module to find its lines.
  minifyWhitespace: true,
  sourcemap: 'external',
};

/**
 * A compiled file.
 * @typedef {{ code: string, madeOf: string[] }} Compiled `madeOf`: paths of all files it was built from
 */

/** Compiles files with the settings of a `tsconfig.json`. */
export class Compiler {
  #tsconfigRaw;
  /** Everything except the files themselves on which the output depends. */
  madeBy;
  #esbuild = null;
  /** Of all instances, because they share the process of esbuild. */
  static #running = 0;

  constructor(tsconfigFile, esbuildPackageFile) {
    this.#tsconfigRaw = readFileSync(tsconfigFile, 'utf8');
    const { version } = JSON.parse(readFileSync(esbuildPackageFile, 'utf8'));
    this.madeBy = JSON.stringify([version, options, moduleOptions, this.#tsconfigRaw]);
  }

  /**
   * Compiles one file.
   * @param file path
   * @returns {Promise<Compiled>}
   * @throws Error with the location of a syntax error
   */
  async compile(file) {
    const text = await readFile(file, 'utf8');
    const { code } = await this.#run(({ transform }) =>
      transform(text, { ...options, loader: 'ts', tsconfigRaw: this.#tsconfigRaw, sourcefile: file }),
    );
    return { code, madeOf: [file] };
  }

  /**
   * Bundles a file with all that it imports into one module, except for a few packages.
   * @param file path
   * @returns {Promise<Compiled & { map: string }>} `map`: the source map
   * @throws Error with the location of a syntax error
   */
  async bundle(file) {
    const folder = path.dirname(file);
    const { outputFiles, metafile } = await this.#run(({ build }) =>
      build({
        ...moduleOptions,
        sourceRoot: pathToFileURL(path.join(folder, path.sep)).href,
        tsconfigRaw: this.#tsconfigRaw,
        absWorkingDir: folder,
        entryPoints: [file],
        outdir: folder,
        banner: { js: requireFor(file) },
        plugins: [ownAddresses((file) => JSON.stringify(pathToFileURL(file).href))],
      }),
    );
    const textOf = (ending) => outputFiles.find(({ path }) => path.endsWith(ending)).text;
    const inputs = Object.keys(metafile.inputs).map((input) => path.resolve(folder, input));
    return { code: textOf('.js'), map: textOf('.map'), madeOf: [...new Set(inputs.map(sourceOf))] };
  }

  /**
   * A module for a CommonJS file.
   * @param file path
   * @returns {Promise<Compiled>}
   * @throws Error if it is not CommonJS
   */
  async wrap(file) {
    return packageModule(file);
  }

  /** Stops the compiler process when it has been idle, because it would keep about 50 MB for as long as this process runs. */
  async #run(act) {
    this.#esbuild ??= require('esbuild');
    Compiler.#running += 1;
    try {
      return await act(this.#esbuild);
    } finally {
      Compiler.#running -= 1;
      setTimeout(() => this.#endIdle(), restMs).unref();
    }
  }

  #endIdle() {
    if (Compiler.#running === 0) void this.#esbuild.stop();
  }
}

/**
 * Lets each file of a bundle find the files next to its source.
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

const packagePattern = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+\//;

/** The file itself; for a file of a package, its `package.json`, because a package changes with its version. */
function sourceOf(file) {
  const [folder] = packagePattern.exec(file) ?? [];
  return folder === undefined ? file : `${folder}package.json`;
}

/** Defines `require` in a bundle, with which packages in CommonJS load the modules of Node. */
function requireFor(file) {
  const url = JSON.stringify(pathToFileURL(file).href);
  return `import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(${url});`;
}

/**
 * Runs the package to find its exports; the importer is about to run it anyway.
 * @param file path, within a package
 * @returns {{ code: string, madeOf: string[] }} for the other files of the package, `madeOf` has its `package.json`
 * @throws Error if it is not CommonJS or fails to run
 */
export function packageModule(file) {
  const exported = createRequire(file)(file);
  if (types.isModuleNamespaceObject(exported)) throw new Error(`${file} is not CommonJS`);
  const [folder] = packagePattern.exec(file) ?? [''];
  return { code: moduleOf(file, Object.keys(exported)), madeOf: [file, `${folder}package.json`] };
}

function moduleOf(file, names) {
  const path = JSON.stringify(file);
  const named = names
    .filter((name) => name !== 'default')
    .map(JSON.stringify)
    .map((name, at) => `const _${at} = exported[${name}];\nexport { _${at} as ${name} };\n`);
  return `import { createRequire } from 'node:module';
const exported = createRequire(${path})(${path});
export default exported;
${named.join('')}`;
}
