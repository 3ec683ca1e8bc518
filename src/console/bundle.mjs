/** Makes one script, one style sheet and the page that names them, with esbuild. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));

/** @returns {Promise<[name: string, content: Buffer][]>} */
export async function bundle() {
  // A front that has the files already does not load it.
  const { build, stop } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: { console: pathOf('main.tsx') },
    outdir: pathOf('./'),
    entryNames: '[name]-[hash]',
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'silent',
  });
  // Its process would live as long as ours.
  await stop();
  const assets = outputFiles.map(({ path: file, contents }) => [path.basename(file), Buffer.from(contents)]);
  const named = (extension) => assets.map(([name]) => name).find((name) => name.endsWith(extension));
  const page = (await readFile(pathOf('index.html'), 'utf8'))
    .replace('STYLES', named('.css'))
    .replace('SCRIPT', named('.js'));
  return [...assets, ['icon.svg', await readFile(pathOf('icon.svg'))], ['index.html', Buffer.from(page)]];
}
