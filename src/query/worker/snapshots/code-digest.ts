import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isClone } from '../../../typescript/is-clone.mjs';

/** Raised when what is in a file changes in another way than by the code of `rooms`. */
const format = 2;
/** `src/search`, and all that it runs of others (`test/layers.test.ts` holds it): a limit says which words are indexed. */
const rooms = ['contract', 'lib', 'search'];
/** The package has no TypeScript. */
const builtWorker = 'dist/server/workers.partition.js';
const repository = fileURLToPath(new URL('../../../../', import.meta.url));

/**
 * A digest of all that decides how a shard is made of its items and how it lies in memory: the code, the packages that it
 * uses, and Node with its Unicode tables, which say what a word is.
 * @param root folder with the `package.json`
 */
export function codeDigest(root: string = repository): string {
  const packages = readFileSync(path.join(root, 'package.json'), 'utf8');
  const platform = JSON.stringify([format, process.versions, process.arch, packages]);
  const hash = createHash('sha256').update(platform);
  const files = isClone
    ? rooms.flatMap((room) => filesIn(path.join(root, 'src', room)))
    : [path.join(root, builtWorker)];
  for (const file of files.sort()) hash.update(path.relative(root, file)).update(readFileSync(file));
  return hash.digest('hex');
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name));
}
