/** Installs the node modules of a fresh clone, for npm scripts that are not commands: `npm pack` runs it first. */
import { fileURLToPath } from 'node:url';
import { ensureNodeModules } from './node-modules.mjs';
import { BootstrapStop } from './stop.mjs';

try {
  ensureNodeModules(fileURLToPath(new URL('../../../', import.meta.url)));
} catch (error) {
  if (!(error instanceof BootstrapStop)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
