/** Entities, and an NDJSON file of them for contenders to load. */
import { createReadStream, type ReadStream, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { BenchContext } from '../bench.ts';
import type { Entity } from '../data/sets.ts';

export interface EntityFile {
  readonly file: string;
  readonly entities: readonly Entity[];
}

export function writeEntities(
  { folder }: BenchContext,
  name: string,
  entities: readonly Entity[],
): EntityFile {
  const file = path.join(folder, `${name}.ndjson`);
  writeFileSync(file, `${entities.map((entity) => JSON.stringify(entity)).join('\n')}\n`);
  return { file, entities };
}

/** Reads the file in chunks of the same size as `npm run import`. */
export function openFile({ file }: EntityFile): ReadStream {
  return createReadStream(file, { highWaterMark: 256 * 1024 });
}

export function linesOf(file: EntityFile): AsyncIterator<string> {
  return createInterface({ input: openFile(file) })[Symbol.asyncIterator]();
}
