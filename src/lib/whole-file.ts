import { randomBytes } from 'node:crypto';
import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';

/**
 * Writes a file under a temporary name and then renames it, so that a full disk or an interruption leaves the former file. What
 * is not a regular file, such as `/dev/stdout`, is written directly.
 * @param mode permissions; absent: those of the former file
 * @throws I/O errors
 */
export function writeWhole(file: string, text: string, mode?: number): void {
  const former = statSync(file, { throwIfNoEntry: false });
  if (former !== undefined && !former.isFile()) {
    writeFileSync(file, text);
    return;
  }
  // A link continues to point to the file.
  const target = former === undefined ? file : realpathSync(file);
  const part = `${target}.${randomBytes(4).toString('hex')}.part`;
  try {
    writeFileSync(part, text, { mode: mode ?? former?.mode });
    renameSync(part, target);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}
