/**
 * Builds `dist` for the package (`npm pack` runs this file, also in a fresh clone): `dist/server`, the JavaScript that the
 * package runs; `dist/client`, the modules for front ends and their types; `dist/console`. A clone runs the TypeScript
 * directly.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { packFiles } from '../../console/files.mjs';
import { builtFolder, builtName } from '../../typescript/clone-or-package.mjs';
import { bundleOptions, ownAddresses } from '../../typescript/compile.mjs';
import { BootstrapStop, ensureNodeModules } from '../bootstrap/node-modules.mjs';
import { commandsOfClones } from '../commands.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));

try {
  ensureNodeModules(root);
} catch (error) {
  if (!(error instanceof BootstrapStop)) throw error;
  console.error(error.message);
  process.exit(1);
}
// Imported here, because a fresh clone does not have it before.
const { build } = await import('esbuild');

await packServer();
await packClient();
await packFiles();

/** Builds one module for each process, thread and command, named after its TypeScript file. */
async function packServer() {
  const ofCommands = readdirSync(`${root}src/cli`)
    .filter((name) => name.endsWith('.ts') && !commandsOfClones.includes(path.basename(name, '.ts')))
    .map((name) => `src/cli/${name}`);
  const ofProcesses = readdirSync(`${root}workers`)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `workers/${name}`);
  /** Modules that are started by a module in plain JavaScript. */
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
    // The package does not have the TypeScript that source maps would refer to.
    sourcemap: false,
    write: true,
    logLevel: 'warning',
    plugins: [
      ownAddresses((file) => {
        const address = path.relative(builtFolder, file).split(path.sep).join('/');
        return `new URL(${JSON.stringify(address)}, import.meta.url).href`;
      }),
    ],
  });
}

/** Exits if there are type errors. */
async function packClient() {
  const folder = `${root}dist/client`;
  const entryPoints = ['client', 'instantsearch'].map((name) => `${root}src/client/${name}.ts`);
  rmSync(folder, { recursive: true, force: true });
  await build({
    entryPoints,
    outdir: folder,
    // Not minified: bundlers of sites do that, and Node prints the line of an uncaught error.
    bundle: true,
    format: 'esm',
    target: 'es2022',
  });
  const words = [
    `${root}node_modules/typescript/bin/tsc`,
    ...entryPoints,
    ...['--outDir', folder],
    ...'--declaration --emitDeclarationOnly --allowImportingTsExtensions --strict --skipLibCheck'.split(' '),
    ...'--target es2022 --lib es2022,dom,dom.asynciterable --module nodenext --types node'.split(' '),
  ];
  const { status } = spawnSync(process.execPath, words, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  // The package has no TypeScript files next to the declarations.
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.d.ts'))) {
    const file = `${folder}/${name}`;
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
  }
}
