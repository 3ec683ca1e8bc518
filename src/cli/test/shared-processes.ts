/** Test files that only compute share a few processes, because to start one and load the code costs more than most of them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { longest } from './test-files.ts';

/** Layers below the store: their tests start nothing, unless they are among the longest. */
const computingRooms = ['config', 'contract', 'lib', 'schemas', 'search'];
const processCount = 6;
/** Such a hook of one file would run for the tests of all. */
const rootHookPattern = /^(?:before|after)(?:Each)?\(/m;

/** True for a file whose tests may run in one process with those of others. */
export function canShare(root: string, file: string): boolean {
  return (
    computingRooms.some((room) => file.startsWith(`test/${room}/`)) &&
    !longest.includes(file) &&
    !rootHookPattern.test(readFileSync(path.join(root, file), 'utf8'))
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
