/** Comments cite documents by page and heading, as in `docs/reference/http.md "Delivery"`. Each of these must exist. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { headingsOf, root, textOf } from './support/markdown.ts';

const folders = ['src', 'test', 'bench', 'workers', 'config'];
/** Not checked, because these tests are about citations and links. */
const leftOut = path.join('test', 'docs');
/** A page, and optionally one of its headings in quotes, which may follow a comma or be on the next line of the comment. */
const citationPattern =
  /((?:docs\/[\w/-]+|bench\/README|README|ARCHITECTURE|CHANGELOG)\.md),?(?:(?: |\s*\n\s*(?:\*|--)\s*)"([^"\n]+)")?/g;
/** Documents that are not in this repository. */
const elsewherePattern = /\b(?:contract|specification),? (?:end of )?(?:sections?|endpoints?|") ?\w*/gi;

function sourceFiles(): string[] {
  return folders.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:ts|mjs|lua)$/.test(file))
      .map((file) => path.join(folder, file))
      .filter((file) => !file.startsWith(leftOut)),
  );
}

interface Citation {
  readonly page: string;
  readonly heading: string | null;
}

function citationsOf(source: string): Citation[] {
  return [...source.matchAll(citationPattern)].map(([, page = '', heading]) => ({
    page,
    heading: heading ?? null,
  }));
}

function errorOf({ page, heading }: Citation): string | null {
  if (!existsSync(path.join(root, page))) return `there is no ${page}`;
  if (heading === null || headingsOf(textOf(page)).includes(heading)) return null;
  return `${page} has no heading "${heading}"`;
}

describe('citations in', () => {
  const files = sourceFiles().map((file) => ({ file, source: readFileSync(path.join(root, file), 'utf8') }));
  for (const folder of folders) {
    const inFolder = files.filter(({ file }) => file.startsWith(path.join(folder, '')));
    test(`${folder} lead to existing pages and headings`, () => {
      const errors = inFolder.flatMap(({ file, source }) =>
        citationsOf(source).flatMap((citation) => {
          const error = errorOf(citation);
          return error === null ? [] : [`${file}: ${error}`];
        }),
      );
      assert.deepEqual(errors, []);
    });

    test(`${folder} name no document outside of this repository`, () => {
      const found = inFolder.flatMap(({ file, source }) =>
        [...source.matchAll(elsewherePattern)].map(([words]) => `${file}: ${words}`),
      );
      assert.deepEqual(found, []);
    });
  }

  test('are many', () => {
    assert.ok(files.flatMap(({ source }) => citationsOf(source)).length > 100);
  });
});

test('citations: errors are found', () => {
  const source =
    '/** (docs/reference/http.md "Delivery"), docs/reference/http.md\n * "Nothing", bench/README.md, "Slow paths", docs/no-page.md */';
  assert.deepEqual(citationsOf(source).map(errorOf), [
    null,
    'docs/reference/http.md has no heading "Nothing"',
    'bench/README.md has no heading "Slow paths"',
    'there is no docs/no-page.md',
  ]);
  assert.equal([...'(contract section 5), specification endpoint 3'.matchAll(elsewherePattern)].length, 2);
});
