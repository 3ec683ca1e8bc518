/**
 * The hooks that Node calls in a thread of its own when a module is imported (Node's documentation, "Customization
 * Hooks").
 */
import { existsSync } from 'node:fs';
import { Compiler } from './compile.mjs';
import { CompiledFiles } from './compiled-files.mjs';

const ownPattern = /^\.{1,2}\/.*\.(?:ts|mjs)$/;

let files = null;
let root = '';

/** @param options paths: `cacheDir`, where compiled files are kept; `tsconfigFile`; `esbuildPackageFile`; `root`, the URL of our folder */
export function initialize({ cacheDir, tsconfigFile, esbuildPackageFile, root: ownRoot }) {
  root = ownRoot;
  files = new CompiledFiles(cacheDir, new Compiler(tsconfigFile, esbuildPackageFile));
}

/** Our own imports name the file as it is, so there is nothing to search. */
export function resolve(specifier, context, nextResolve) {
  if (context.parentURL === undefined || !ownPattern.test(specifier)) return nextResolve(specifier, context);
  const url = new URL(specifier, context.parentURL);
  // Node itself reports an import of a file that is not there.
  if (isInPackage(url.href) || !existsSync(url)) return nextResolve(specifier, context);
  return { url: url.href, format: 'module', shortCircuit: true };
}

export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts') || isInPackage(url)) return nextLoad(url, context);
  return { format: 'module', source: await files.read(url), shortCircuit: true };
}

/** Millrace may be a package itself, and lie in somebody's `node_modules`. */
function isInPackage(url) {
  return url.replace(root, '/').includes('/node_modules/');
}
