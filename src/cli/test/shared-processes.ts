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
const processCount = 12;
/** Such a hook of one file would run for the tests of all. */
const hookOfEachPattern = /^(?:before|after)Each\(/m;

/** True for a file whose tests may run in one process with those of others. */
export function canShare(root: string, file: string): boolean {
  return (
    sharingRooms.some((room) => file.startsWith(`test/${room}/`)) &&
    !longest.includes(file) &&
    !hookOfEachPattern.test(readFileSync(path.join(root, file), 'utf8'))
  );
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
  const groups = Array.from({ length: Math.min(processCount, files.length) }, (): string[] => []);
  for (const [at, file] of files.entries()) groups[at % groups.length]?.push(path.join(root, file));
  const modules = groups.map((group, at) => {
    const module = path.join(folder, `shared-${at + 1}.mjs`);
    writeFileSync(
      module,
      group.map((file) => `import ${JSON.stringify(pathToFileURL(file).href)};\n`).join(''),
    );
    return module;
  });
  return { modules, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
