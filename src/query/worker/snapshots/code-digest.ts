import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Raised when what stands in a file changes in another way than by the code of `src/search`. */
const format = 2;

/**
 * A digest of all that decides how a shard is made of its items and how it lies in memory: the code of `src/search`, the
 * packages that it uses, and Node, whose Unicode tables say what a word is.
 */
export function codeDigest(): string {
  const folder = fileURLToPath(new URL('../../../search/', import.meta.url));
  const packages = fileURLToPath(new URL('../../../../package.json', import.meta.url));
  const hash = createHash('sha256').update(
    `${format} ${process.version} ${process.arch} ${readFileSync(packages, 'utf8')}`,
  );
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name));
  for (const file of files.sort()) hash.update(path.relative(folder, file)).update(readFileSync(file));
  return hash.digest('hex');
}
