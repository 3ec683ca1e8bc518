/** Commands, options, settings and test files named in documents exist. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { type CommandName, commands } from '../../src/cli/commands.mjs';
import { documents, root, textOf } from './support/markdown.ts';

const readmeLinesMax = 150;
const { scripts }: { scripts: Record<string, string> } = JSON.parse(textOf('package.json'));
const benches = readdirSync(path.join(root, 'bench')).flatMap((file) => /^(.+)\.ts$/.exec(file)?.[1] ?? []);
/** Options of Node's test runner and of `npm ci`. */
const optionPattern = /npm (?:run )?([a-z]+) --((?: +[^\s`|;&#]+)+)/g;
/** Placeholder names in documents. */
const placeholders = new Set(['FILE', 'NAME']);

/** Scripts of package.json that a document runs. */
function scriptsIn(text: string): string[] {
  return [...text.matchAll(/\bnpm run ([a-z][\w-]*)|\bnpm (start|test)\b/g)].map(
    ([, run, direct]) => run ?? direct ?? '',
  );
}

/** Options that a document gives to our commands, as `command --option`. */
function optionsIn(text: string): string[] {
  return [...text.matchAll(optionPattern)].flatMap(([, command = '', words = '']) =>
    [...words.matchAll(/ --([a-z-]+)/g)].map(([, option]) => `${command} --${option}`),
  );
}

function isKnownOption(use: string): boolean {
  const [command = '', option = ''] = use.split(' --');
  if (option === 'help' || command === 'test') return true;
  return Object.hasOwn(commands, command) && Object.hasOwn(commands[command as CommandName].options, option);
}

function benchesIn(text: string): string[] {
  return [...text.matchAll(/npm run bench -- ([a-zA-Z-]+)/g)]
    .map(([, name = '']) => name)
    .filter((name) => !placeholders.has(name) && !name.startsWith('--'));
}

function testFilesIn(text: string): string[] {
  return [...text.matchAll(/\btest\/[\w/.-]+\.ts\b/g)].map(([file]) => file);
}

/** Source files that a document names in backticks, without `src/` or, for scripts, without `src/store/`. */
function sourceFilesIn(text: string): string[] {
  return [...text.matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|mjs|lua))`/g)].map(([, file = '']) => file);
}

/** Whether a file exists in the repository, or in a site made by `init`, which the guide calls `my-site`. */
function isThere(file: string): boolean {
  const template = path.join('src/cli/site/template', file.replace('/my-site/', '/tenant/'));
  const places = ['', 'src', 'src/store', 'src/actors'].map((folder) => path.join(folder, file));
  return [...places, template].some((place) => existsSync(path.join(root, place)));
}

describe('documented names exist:', () => {
  for (const file of documents()) {
    test(file, () => {
      const text = textOf(file);
      assert.deepEqual(
        scriptsIn(text).filter((name) => !Object.hasOwn(scripts, name)),
        [],
        'npm scripts',
      );
      assert.deepEqual(
        optionsIn(text).filter((use) => !isKnownOption(use)),
        [],
        'options of commands',
      );
      assert.deepEqual(
        benchesIn(text).filter((name) => !benches.includes(name)),
        [],
        'benchmarks',
      );
      assert.deepEqual(
        testFilesIn(text).filter((name) => !existsSync(path.join(root, name))),
        [],
        'test files',
      );
      assert.deepEqual(
        sourceFilesIn(text).filter((name) => !isThere(name)),
        [],
        'source files',
      );
    });
  }
});

test('names: missing ones are found', () => {
  assert.deepEqual(scriptsIn('`npm run nothing`, npm start'), ['nothing', 'start']);
  assert.deepEqual(optionsIn('`npm run verify -- --repair --nothing`'), [
    'verify --repair',
    'verify --nothing',
  ]);
  assert.deepEqual(
    ['verify --repair', 'verify --nothing', 'nothing --yes', 'start --help'].filter(isKnownOption),
    ['verify --repair', 'start --help'],
  );
});

test('names: every promise names a test', () => {
  const promises = textOf('docs/promises.md')
    .split(/\n(?=\*\*|## )/)
    .filter((part) => part.startsWith('**'));
  assert.ok(promises.length > 30);
  assert.deepEqual(
    promises.filter((promise) => !/^Shown by .*`/m.test(promise) || testFilesIn(promise).length === 0),
    [],
  );
});

test(`names: the README has at most ${readmeLinesMax} lines`, () => {
  const lines = textOf('README.md').trimEnd().split('\n');
  assert.ok(lines.length <= readmeLinesMax, `${lines.length} lines`);
});

test('names: no table is padded', () => {
  const padded = documents()
    .filter((file) => file === 'README.md' || file.startsWith('docs/'))
    .flatMap((file) =>
      textOf(file)
        .split('\n')
        .flatMap((line, index) => (/^\|.* {3,}\|/.test(line) ? [`${file}:${index + 1}`] : [])),
    );
  assert.deepEqual(padded, []);
});
