/** Most test files share a few processes, because to start one and load the code costs more than most of them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { longest } from './test-files.ts';

/** Rooms whose tests start no process but a Redis. */
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
/** Such a hook of one file would run for the tests of all. */
const hookOfEachPattern = /^(?:before|after)Each\(/m;
/** Files with this import share a platform, so all of them are in one process. */
const platformPattern = /from '.*\/support\/query-tenant\.ts'/;

/** True for a file whose tests may run in one process with those of others. */
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
 * Writes modules that import test files, each of some.
 * @param files paths relative to `root`
 * @returns their paths, and how to remove them
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
 * The first test of each process waits until all its files are there, and the others wait for it. Otherwise tests would run
 * while a file still loads: with a clock that one of them stops, say, it would never be there. Or they would all end before
 * it has registered any, and its tests would never run.
 */
const untilLoaded = `import { test } from 'node:test';
export let onLoaded;
const loaded = new Promise((resolve) => { onLoaded = resolve; });
test('all files are loaded', () => loaded);
`;

/** Splits files into as many groups as there are processes. Files of a room stay together, because they load the same code. */
function split(files: readonly string[]): string[][] {
  const startOf = (group: number) => Math.ceil((group * files.length) / processCount);
  return Array.from({ length: processCount }, (_, group) => files.slice(startOf(group), startOf(group + 1)));
}
