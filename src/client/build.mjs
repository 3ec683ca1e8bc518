/**
 * Makes `dist/client`, the modules for front ends and their types, for the package (`npm pack` runs it). In a clone the
 * TypeScript itself is used.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = `${root}dist/client`;

const entryPoints = ['client', 'instantsearch'].map((name) => `${root}src/client/${name}.ts`);

rmSync(folder, { recursive: true, force: true });
await build({
  entryPoints,
  outdir: folder,
  // Not minified: bundlers of sites do that, and in Node an error that nobody catches prints the line that threw it.
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
process.exitCode = status ?? 1;

// Anyone who uses the package has no TypeScript file beside a declaration.
for (const name of readdirSync(folder).filter((one) => one.endsWith('.d.ts'))) {
  const file = `${folder}/${name}`;
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
}
