/** Watches the configuration folder of `millrace dev`. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileStamp } from '../../lib/file-stamp.ts';

const pollMs = 300;
/** Longer than an editor takes between truncating a file and writing it. */
const quietMs = 50;

/**
 * Polls the files of a folder, and calls `onChange` after changes, one call at a time. It first waits until no file has changed
 * for a moment, because most editors truncate a file before they write it. It compares times and sizes, because change events
 * get lost on shared folders, and when an editor replaces a file.
 * @param signal ends it
 */
export async function watchFolder(
  folder: string,
  signal: AbortSignal,
  onChange: () => Promise<void>,
  every: { readonly pollMs: number; readonly quietMs: number } = { pollMs, quietMs },
): Promise<void> {
  const wait = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {});
  let known = await stampsOf(folder);
  while (!signal.aborted) {
    await wait(every.pollMs);
    let now = await stampsOf(folder);
    if (now === known) continue;
    do {
      known = now;
      await wait(every.quietMs);
      now = await stampsOf(folder);
    } while (now !== known && !signal.aborted);
    if (signal.aborted) return;
    await onChange();
  }
}

/** A string that changes when a file is added, removed or written. */
async function stampsOf(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const stamps = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async ({ parentPath, name }) => {
        const file = path.join(parentPath, name);
        return `${file} ${await fileStamp(file)}`;
      }),
  );
  return stamps.sort().join('\n');
}
