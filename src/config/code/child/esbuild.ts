/**
 * esbuild without files. The native one opens what a text names, such as a source map or all files that an `import` with
 * a variable may mean, past every plugin. So this is the one in WebAssembly, for browsers: all that it can call is given
 * to it here.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import esbuild from 'esbuild-wasm/lib/browser.js';

/** Of the globals, what Go's runtime needs. In place of files and processes it then finds functions that only fail. */
const reachable = {
  ...{ Object, Array, Uint8Array, Date, Error, Promise },
  ...{ TextEncoder, TextDecoder, crypto, performance },
};

declare global {
  // Part of Node, and of its types from version 22 on.
  namespace WebAssembly {
    function compile(bytes: Uint8Array): Promise<Module>;
  }
}

let starting: Promise<void> | null = null;

/** Its `build` never reads or writes a file. An error other than a `BuildFailure` leaves it unusable. */
export async function startedEsbuild(): Promise<Pick<typeof esbuild, 'build'>> {
  starting ??= start();
  await starting;
  return esbuild;
}

async function start(): Promise<void> {
  const file = createRequire(import.meta.url).resolve('esbuild-wasm/esbuild.wasm');
  const wasmModule = await WebAssembly.compile(readFileSync(file));
  // In a browser `self` is the global object.
  Object.defineProperty(globalThis, 'self', { value: Object.freeze(reachable), configurable: true });
  await esbuild.initialize({ wasmModule, worker: false });
}
