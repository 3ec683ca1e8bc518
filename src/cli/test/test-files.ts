import { readdirSync } from 'node:fs';
import path from 'node:path';

/** Paths of tests, relative to the repository. */
export interface Suite {
  /** Of all rooms. */
  readonly rooms: readonly string[];
  /** Of the whole system in real processes, on ports that are free. */
  readonly system: readonly string[];
  /** Of the system on a Redis Cluster, whose ports lie a fixed distance apart: one at a time. */
  readonly cluster: readonly string[];
}

export function suiteOf(root: string): Suite {
  const files = testFiles(root);
  const system = filesIn(files, ['system', 'hostile']);
  const cluster = filesIn(files, ['cluster']);
  return {
    rooms: files.filter((file) => !system.includes(file) && !cluster.includes(file)),
    system,
    cluster,
  };
}

function filesIn(files: readonly string[], folders: readonly string[]): string[] {
  return files.filter((file) => folders.some((folder) => file.startsWith(path.join('test', folder, ''))));
}

function testFiles(root: string): string[] {
  return readdirSync(path.join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => path.join('test', file))
    .sort();
}
