/**
 * Makes `dist/server`, the JavaScript that the package runs (`npm pack` runs this file): one module for each process, thread
 * and command, named after its TypeScript. A clone runs the TypeScript itself.
 */
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { builtFolder, builtName } from '../../typescript/built-files.mjs';
import { bundleOptions, ownAddresses } from '../../typescript/compile.mjs';
import { commandsOfClones } from '../commands.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));

const ofCommands = readdirSync(`${root}src/cli`)
  .filter((name) => name.endsWith('.ts') && !commandsOfClones.includes(path.basename(name, '.ts')))
  .map((name) => `src/cli/${name}`);
const ofProcesses = readdirSync(`${root}workers`)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => `workers/${name}`);
/** A module in plain JavaScript starts each of them. */
const startedByModules = [
  'src/actors/ownership/keeper-thread.ts',
  'src/config/code/child/main.ts',
  'src/http/ingest/entity-thread.ts',
  'src/sandbox/child/main.ts',
];

rmSync(builtFolder, { recursive: true, force: true });
await build({
  ...bundleOptions,
  entryPoints: Object.fromEntries(
    [...ofCommands, ...ofProcesses, ...startedByModules].map((file) => [builtName(file), root + file]),
  ),
  outdir: builtFolder,
  // Whoever installs the package has no TypeScript that a map could lead to.
  sourcemap: false,
  treeShaking: true,
  write: true,
  logLevel: 'warning',
  plugins: [
    ownAddresses((file) => {
      const address = path.relative(builtFolder, file).split(path.sep).join('/');
      return `new URL(${JSON.stringify(address)}, import.meta.url).href`;
    }),
  ],
});
