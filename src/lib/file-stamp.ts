import { stat } from 'node:fs/promises';

/** A string that changes when the file is written, replaced or removed. */
export async function fileStamp(file: string): Promise<string> {
  const found = await stat(file).catch(() => null);
  return `${found?.mtimeMs} ${found?.size} ${found?.ino}`;
}
