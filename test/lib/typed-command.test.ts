/** Commands are named as they are typed: with npm in a clone, with npx if the package is installed. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { asTyped, script } from '../../src/lib/typed-command.mjs';
import { temporaryFolder } from '../cli/support/command.ts';

const src = fileURLToPath(new URL('../../src', import.meta.url));
const text = 'npm start, npm run apply -- --yes, npm run jobs: no; npm run view-types';

test('typed command: a clone types npm run, and the installed package npx', async (context) => {
  assert.equal(asTyped(text), text);
  assert.deepEqual(['start', 'apply', 'types'].map(script), [
    'npm start',
    'npm run apply',
    'npm run view-types',
  ]);
  const folder = await temporaryFolder(context);
  const file = path.join(folder, 'src/lib/typed-command.mjs');
  for (const own of ['lib/typed-command.mjs', 'typescript/clone-or-package.mjs']) {
    cpSync(path.join(src, own), path.join(folder, 'src', own));
  }
  const code = `import { asTyped, script } from ${JSON.stringify(pathToFileURL(file))};
console.log(asTyped(${JSON.stringify(text)}), ['start', 'apply', 'types'].map(script).join());`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', code], {
    encoding: 'utf8',
  });
  assert.equal(
    printed,
    'npx millrace start, npx millrace apply --yes, npx millrace jobs: no; npx millrace types npx millrace start,npx millrace apply,npx millrace types\n',
  );
});

/** `src/cli` prints through outlets that convert it; the others are words for the documents. */
const elsewhere = /^(?:cli\/|config\/settings\/table\.ts$|typescript\/|lib\/typed-command\.mjs$)/;

test('typed command: no message outside of the command line names npm without asking how commands are typed', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.(?:ts|tsx|mjs)$/.test(file),
  );
  for (const file of files.filter((one) => !elsewhere.test(one))) {
    const code = readFileSync(path.join(src, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
    const outside = code.replaceAll(/asTyped\([^()]*(?:\([^()]*\)[^()]*)*\)/g, '');
    assert.doesNotMatch(outside, /npm (?:run|start)/, file);
  }
});
