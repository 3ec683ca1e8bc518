/** Runs most test files in a few shared processes, because starting one and loading the code takes longer than most files. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { longest } from './test-files.ts';

/** Rooms whose tests start no processes except Redis. */
const sharingRooms = [
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
const processCount = 8;
/** In a shared process, such a hook would run for the tests of all files. */
const hookOfEachPattern = /^(?:before|after)Each\(/m;
/** Files with this import share a platform, so they must be in one process. */
const platformPattern = /from '.*\/support\/query-tenant\.ts'/;

/** True for a file whose tests may run in a shared process. */
export function canShare(root: string, file: string): boolean {
  return (
    sharesPlatform(root, file) ||
    (sharingRooms.some((room) => file.startsWith(`test/${room}/`)) &&
      !longest.includes(file) &&
      !hookOfEachPattern.test(textOf(root, file)))
  );
}

function sharesPlatform(root: string, file: string): boolean {
  return platformPattern.test(textOf(root, file));
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
  const ofPlatform = files.filter((file) => sharesPlatform(root, file));
  const others = files.filter((file) => !ofPlatform.includes(file));
  const groups = [...split(others), ofPlatform].filter((group) => group.length > 0);
  writeFileSync(path.join(folder, 'until-loaded.mjs'), untilLoaded);
  const modules = groups.map((group, at) => {
    const module = path.join(folder, `shared-${at + 1}.mjs`);
    const imports = group.map(
      (file) => `import ${JSON.stringify(pathToFileURL(path.join(root, file)).href)};\n`,
    );
    writeFileSync(module, `import { onLoaded } from './until-loaded.mjs';\n${imports.join('')}onLoaded();\n`);
    return module;
  });
  return { modules, remove: () => rmSync(folder, { recursive: true, force: true }) };
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

/** Splits files into one group per process. Files of a room stay together, because they load the same code. */
function split(files: readonly string[]): string[][] {
  const startOf = (group: number) => Math.ceil((group * files.length) / processCount);
  return Array.from({ length: processCount }, (_, group) => files.slice(startOf(group), startOf(group + 1)));
}
