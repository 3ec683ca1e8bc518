import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** True in a clone of the repository, false in the installed package: npm leaves the lock file out of what it packs. */
export const isClone = existsSync(fileURLToPath(new URL('../../package-lock.json', import.meta.url)));
