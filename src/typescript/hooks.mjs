/**
 * The hooks that Node calls in a separate thread when a module is imported (Node's documentation, "Customization Hooks"). They
 * compile file by file, because tests and benchmarks import the files under test one by one.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Compiler } from './compile.mjs';
import { CompiledFiles } from './compiled-files.mjs';

const ownPattern = /^\.{1,2}\/.*\.(?:ts|mjs)$/;

let files = null;

/** @param options paths: `cacheDir` for compiled files; `tsconfigFile`; `esbuildPackageFile` */
export function initialize({ cacheDir, tsconfigFile, esbuildPackageFile }) {
  files = new CompiledFiles(cacheDir, new Compiler(tsconfigFile, esbuildPackageFile));
}

/** Our own imports contain the exact file name, so no search is needed. */
export async function resolve(specifier, context, nextResolve) {
  return ownImport(specifier, context.parentURL) ?? (await nextResolve(specifier, context));
}

export async function load(url, context, nextLoad) {
  if (mayBeCommonJs(url, context.format)) return (await wrapped(url)) ?? (await nextLoad(url, context));
  if (!isOwnTypeScript(url)) return nextLoad(url, context);
  const source = await files.read('compile', fileURLToPath(url));
  return { format: 'module', source, shortCircuit: true };
}

function ownImport(specifier, parentUrl) {
  if (parentUrl === undefined || !ownPattern.test(specifier)) return null;
  const url = new URL(specifier, parentUrl);
  // Node itself reports imports of missing files.
  if (isInPackage(url.href) || !existsSync(url)) return null;
  return { url: url.href, format: 'module', shortCircuit: true };
}

function isOwnTypeScript(url) {
  return url.startsWith('file:') && url.endsWith('.ts') && !isInPackage(url);
}

/** Node does not know the format of a file yet if its package does not declare it. */
function mayBeCommonJs(url, format) {
  return (format ?? 'commonjs') === 'commonjs' && isInPackage(url) && /\.c?js$/.test(url);
}

/** @returns null if Node should load it itself, and report its errors */
async function wrapped(url) {
  try {
    const source = await files.read('wrap', fileURLToPath(url));
    return { format: 'module', source, shortCircuit: true };
  } catch {
    return null;
  }
}

function isInPackage(url) {
  return url.includes('/node_modules/');
}
