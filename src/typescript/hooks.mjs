/** What Node asks when a module is imported, in a thread of its own; `loader.mjs` says why. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { threadId } from 'node:worker_threads';

const digestLength = 40;
/**
 * By this tsx gives a function that is made inside another one the name that it is assigned to, each time: 0.3 µs, more than
 * most of them do. In traces the place says as much. The other is as long, so that columns stay what they were.
 */
const nameKeeper = 'var __name=(target,value)=>__defProp(target,"name",{value,configurable:true});';
const nameIgnorer = 'var __name=(target)=>target;'.padEnd(nameKeeper.length);
const sourceMapPattern = /(\n\/\/# sourceMappingURL=data:application\/json;base64,)(\S+)\s*$/;
const ownPattern = /^\.{1,2}\/.*\.(?:ts|mjs)$/;

let cacheDir = '';
let tsconfigFile = '';
/** What is kept was made by this compiler with these settings, and changed here. */
let madeBy = '';
let compiler = null;

/**
 * @param options `cacheDir`: where compiled files are kept; `tsconfigFile`: how they are compiled; `compilerFile`: a file
 * that changes with the compiler
 */
export function initialize(options) {
  ({ cacheDir, tsconfigFile } = options);
  const ownText = readFileSync(new URL('./hooks.mjs', import.meta.url));
  madeBy = digestOf(ownText, readFileSync(tsconfigFile), readFileSync(options.compilerFile));
}

/** Our own imports name the file as it is, so there is nothing to search. */
export function resolve(specifier, context, nextResolve) {
  if (context.parentURL === undefined || !ownPattern.test(specifier)) return nextResolve(specifier, context);
  const url = new URL(specifier, context.parentURL);
  // Whoever imports what is not there is told so by Node itself.
  if (isInPackage(url.href) || !existsSync(url)) return nextResolve(specifier, context);
  return { url: url.href, format: 'module', shortCircuit: true };
}

/** The JavaScript of a TypeScript file: as it was kept, or compiled now. */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts') || isInPackage(url)) return nextLoad(url, context);
  const digest = digestOf(madeBy, url, readFileSync(new URL(url)));
  const keptFile = path.join(cacheDir, `${digestOf(url)}.js`);
  const kept = readKept(keptFile, digest);
  if (kept !== null) return { format: 'module', source: kept, shortCircuit: true };
  const source = await compile(url, context, nextLoad);
  keep(keptFile, digest + source);
  return { format: 'module', source, shortCircuit: true };
}

function isInPackage(url) {
  return url.includes('/node_modules/');
}

function digestOf(...pieces) {
  const hash = createHash('sha1');
  for (const piece of pieces) hash.update(piece).update('\0');
  return hash.digest('hex');
}

/** @returns bytes, or null when nothing is kept or the source has changed since */
function readKept(keptFile, digest) {
  try {
    const kept = readFileSync(keptFile);
    return kept.latin1Slice(0, digestLength) === digest ? kept.subarray(digestLength) : null;
  } catch {
    return null;
  }
}

async function compile(url, context, nextLoad) {
  compiler ??= startCompiler();
  const { load: loadByCompiler } = await compiler;
  const { source } = await loadByCompiler(url, { ...context, format: 'module' }, nextLoad);
  return withoutOriginal(String(source).replace(nameKeeper, nameIgnorer));
}

/** The TypeScript lies beside, so the source map need not hold it: every process would read and keep it. */
function withoutOriginal(source) {
  return source.replace(sourceMapPattern, (_, mark, encoded) => {
    const { sourcesContent, ...map } = JSON.parse(Buffer.from(encoded, 'base64').toString());
    return mark + Buffer.from(JSON.stringify(map)).toString('base64');
  });
}

async function startCompiler() {
  const tsx = await import('tsx/esm');
  await tsx.initialize({ tsconfig: tsconfigFile });
  return tsx;
}

/** Others may read or write the same file meanwhile, so it appears whole. Where nothing can be written nothing is kept. */
function keep(keptFile, text) {
  const draftFile = `${keptFile}.${process.pid}.${threadId}`;
  try {
    mkdirSync(cacheDir, { recursive: true });
    writeFileSync(draftFile, text);
    renameSync(draftFile, keptFile);
  } catch {
    // The next process compiles it again.
  }
}
