import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const lookEveryMs = 300;

/**
 * Calls `onChange` when files of a folder have changed since the last look, one call at a time. It looks at times and sizes,
 * because what operating systems tell of changes gets lost when an editor puts a new file in the place of an old one, and on
 * shared folders.
 * @param signal ends it
 */
export async function watchFolder(
  folder: string,
  signal: AbortSignal,
  onChange: () => Promise<void>,
): Promise<void> {
  let known = await stampsOf(folder);
  while (!signal.aborted) {
    await sleep(lookEveryMs, undefined, { signal }).catch(() => {});
    const now = await stampsOf(folder);
    if (now === known || signal.aborted) continue;
    known = now;
    await onChange();
  }
}

/** A text that differs when a file was added, removed or written. */
async function stampsOf(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const stamps = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async ({ parentPath, name }) => {
        const file = path.join(parentPath, name);
        // A file may go between the two looks.
        const found = await stat(file).catch(() => null);
        return `${file} ${found?.mtimeMs} ${found?.size} ${found?.ino}`;
      }),
  );
  return stamps.sort().join('\n');
}
