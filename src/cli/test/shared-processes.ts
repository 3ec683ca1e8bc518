/** Runs most test files in a few shared processes, because starting one and loading the code takes longer than most files. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { longest } from './test-files.ts';

/** Layers whose tests start no processes except Redis. */
const inProcessLayers = [
  'actors',
  'config',
  'contract',
  'http',
  'jobs',
  'lib',
  'query',
  'schemas',
  'search',
  'store',
  'verify',
  'webhooks',
];
/** Each process of files that start no processes runs files of the same layers, because they load the same code. */
const inProcessCount = 8;
const suiteProcessCount = 8;
/** In a shared process, such a hook would run for the tests of all files, unless the file is a suite. */
const hookOfEachPattern = /^(?:before|after)Each\(/m;
const hookPattern = /^(?:before|after)(?:Each)?\(/m;
/** Files with such an import take turns with the platform of their process. */
const platformPattern = /^(?:import|\}) .*from '.*\/(?:shared-platform|query-tenant)\.ts'/m;
/** What comes after it would not belong to the suite of its file: node's test runner finds that by the call that it is in. */
const topLevelAwaitPattern = /^(?:\S.*[ (])?await /m;
const platformModule = 'test/system/support/processes/shared-platform.ts';
/** A platform each: with one, the last of its files would end long after all others. */
const platformCount = 2;

/**
 * How a file shares a process: with the platform of its process; as a suite with its own hooks; or imported, so that its hooks
 * run at the start and the end of the process. Null if it does not.
 */
function sharing(root: string, file: string): 'platform' | 'suite' | 'import' | null {
  const text = textOf(root, file);
  const canBeSuite = !topLevelAwaitPattern.test(text);
  if (canBeSuite && platformPattern.test(text)) return 'platform';
  if (longest.includes(file)) return null;
  const isInProcess = inProcessLayers.some((layer) => file.startsWith(`test/${layer}/`));
  if (canBeSuite && !isInProcess) return 'suite';
  return (isInProcess ? hookOfEachPattern : hookPattern).test(text) ? null : 'import';
}

/** True for a file whose tests may run in a shared process. */
export function canShare(root: string, file: string): boolean {
  return sharing(root, file) !== null;
}

function textOf(root: string, file: string): string {
  return readFileSync(path.resolve(root, file), 'utf8');
}

/**
 * Writes modules, each of which imports a group of test files.
 * @param files paths relative to `root`
 * @returns their paths, and a function that removes them
 */
export function writeSharing(
  root: string,
  files: readonly string[],
): { readonly modules: string[]; remove(): void } {
  const folder = mkdtempSync(path.join(tmpdir(), 'millrace-tests-'));
  const write = (name: string, text: string) => {
    const module = path.join(folder, name);
    writeFileSync(module, text);
    return module;
  };
  write('until-loaded.mjs', untilLoaded);
  const urlOf = (file: string) => JSON.stringify(pathToFileURL(path.resolve(root, file)).href);
  const filesOf = (way: 'platform' | 'suite' | 'import') =>
    files.filter((file) => sharing(root, file) === way);
  const platforms = deal(filesOf('platform'), platformCount).map((group, at) =>
    write(`platform-${at + 1}.mjs`, suites(group, urlOf, [platformModule])),
  );
  const others = deal(filesOf('suite'), suiteProcessCount).map((group, at) =>
    write(`suites-${at + 1}.mjs`, suites(group, urlOf)),
  );
  const imported = split(filesOf('import')).map((group, at) =>
    write(`shared-${at + 1}.mjs`, imports(group, urlOf)),
  );
  const modules = [...platforms, ...others, ...imported];
  return { modules, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

type UrlOf = (file: string) => string;

function imports(files: readonly string[], urlOf: UrlOf): string {
  const lines = files.map((file) => `import ${urlOf(file)};\n`);
  return `import { onLoaded } from './until-loaded.mjs';\n${lines.join('')}onLoaded();\n`;
}

/**
 * Each file is a suite: its hooks run when it is its turn.
 * @param first files to import before, so that their hooks belong to no suite
 */
function suites(files: readonly string[], urlOf: UrlOf, first: readonly string[] = []): string {
  const lines = files.map((file) => `addSuite(${JSON.stringify(file)}, () => import(${urlOf(file)}));\n`);
  return `import { describe } from 'node:test';
import { onLoaded } from './until-loaded.mjs';
${first.map((file) => `import ${urlOf(file)};\n`).join('')}const loading = [];
const addSuite = (file, load) => describe(file, () => {
  loading.push(load());
  return loading.at(-1);
});
${lines.join('')}await Promise.allSettled(loading);
onLoaded();
`;
}

/**
 * The first test of each process waits until all its files are loaded, and the others wait for it. Otherwise tests would run
 * while a file is loading: a test that mocks the clock could block the load forever, or all tests could end before a file has
 * registered its own.
 */
const untilLoaded = `import { test } from 'node:test';
export let onLoaded;
const loaded = new Promise((resolve) => { onLoaded = resolve; });
test('all files are loaded', () => loaded);
`;

/** Splits files into one group per process. Files of a layer stay together, because they load the same code. */
function split(files: readonly string[]): string[][] {
  const startOf = (group: number) => Math.ceil((group * files.length) / inProcessCount);
  return Array.from({ length: inProcessCount }, (_, group) =>
    files.slice(startOf(group), startOf(group + 1)),
  ).filter((group) => group.length > 0);
}

/** Spreads files over processes. The longest, which come first, are not all in one. */
function deal(files: readonly string[], count: number): string[][] {
  return Array.from({ length: count }, (_, group) => files.filter((_, at) => at % count === group)).filter(
    (group) => group.length > 0,
  );
}
