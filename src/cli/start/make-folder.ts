import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { CommandStop } from '../terminal/command-stop.ts';

/**
 * Makes a folder and the missing ones above it, level by level. Node's own recursive `mkdir` never ends where nothing
 * can be made, as in `/proc`.
 * @param mode permissions of folders that are made; by default nobody else may look into them
 * @throws CommandStop when that is not possible
 */
export function makeFolder(folder: string, mode = 0o700): void {
  try {
    makeMissing(folder, mode);
  } catch (error) {
    throw new CommandStop(
      `DATA_DIR cannot be created: ${error instanceof Error ? error.message : error}. Choose a folder that this user can write to.`,
    );
  }
}

function makeMissing(folder: string, mode: number): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const above = path.dirname(folder);
  if (above !== folder) makeMissing(above, mode);
  mkdirSync(folder, { mode });
}
