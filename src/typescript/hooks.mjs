/**
 * The hooks that Node calls in a separate thread when a module is imported (Node's documentation, "Customization Hooks").
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Compiler } from './compile.mjs';
import { CompiledFiles } from './compiled-files.mjs';

const ownPattern = /^\.{1,2}\/.*\.(?:ts|mjs)$/;

let files = null;
let bundledFolders = [];
/** URLs of our files that are entry points of a process or a thread. */
const entries = new Set();

/** @param options paths: `cacheDir` for compiled files; `tsconfigFile`; `esbuildPackageFile`; `root`, the URL of our folder */
export function initialize({ cacheDir, tsconfigFile, esbuildPackageFile, root }) {
  bundledFolders = ['src/', 'workers/'].map((folder) => root + folder);
  files = new CompiledFiles(cacheDir, new Compiler(tsconfigFile, esbuildPackageFile));
}

/** Our own imports contain the exact file name, so no search is needed. */
export async function resolve(specifier, context, nextResolve) {
  const resolved = ownImport(specifier, context.parentURL) ?? (await nextResolve(specifier, context));
  if (isEntry(resolved.url, context.parentURL)) entries.add(resolved.url);
  return resolved;
}

export async function load(url, context, nextLoad) {
  if (mayBeCommonJs(url, context.format)) return (await wrapped(url)) ?? (await nextLoad(url, context));
  if (!isOwnTypeScript(url)) return nextLoad(url, context);
  const source = await files.read(entries.has(url) ? 'bundle' : 'compile', fileURLToPath(url));
  return { format: 'module', source, shortCircuit: true };
}

function ownImport(specifier, parentUrl) {
  if (parentUrl === undefined || !ownPattern.test(specifier)) return null;
  const url = new URL(specifier, parentUrl);
  // Node itself reports imports of missing files.
  if (isInPackage(url.href) || !existsSync(url)) return null;
  return { url: url.href, format: 'module', shortCircuit: true };
}

/**
 * A file that is not imported by TypeScript is the entry point of a process, a thread or a command. It is bundled with all its
 * imports, because each module that Node loads separately goes through these hooks. Tests and benchmarks import the files under
 * test one by one.
 */
function isEntry(url, parentUrl) {
  return (
    parentUrl?.endsWith('.ts') !== true &&
    isOwnTypeScript(url) &&
    bundledFolders.some((folder) => url.startsWith(folder))
  );
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
