/** Writes and reads delivered pages as files, for contenders that serve static files. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** @param pages URL path -> bytes */
export function writeStaticFiles(folder: string, pages: ReadonlyMap<string, string>): void {
  for (const [url, text] of pages) {
    const file = path.join(folder, url);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** Reads every file in the folder. @returns URL path -> bytes */
export function readStaticFiles(folder: string): Map<string, Buffer> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    files.map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return [`/${path.relative(folder, file)}`, readFileSync(file)];
    }),
  );
}
