import { readdirSync } from 'node:fs';
import path from 'node:path';

const systemFolders = ['system', 'hostile', 'cluster'];

/** The tests of all rooms, those of the system left out; paths relative to the repository. */
export function roomTests(root: string): string[] {
  return testFiles(root).filter((file) => !isSystemTest(file));
}

/** The tests that run the whole system in real processes. */
export function systemTests(root: string): string[] {
  return testFiles(root).filter(isSystemTest);
}

function isSystemTest(file: string): boolean {
  return systemFolders.some((folder) => file.startsWith(path.join('test', folder, '')));
}

function testFiles(root: string): string[] {
  return readdirSync(path.join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => path.join('test', file))
    .sort();
}
