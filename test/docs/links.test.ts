/** Every relative link of every document leads to an existing file and heading. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { anchorsOf, documents, relativeLinksOf, root, textOf } from './support/markdown.ts';

/** The error in a link, or null. @param from the document that contains it, relative to the repository */
function errorOf(from: string, target: string): string | null {
  const [file = '', anchor] = target.split('#');
  const to = file === '' ? from : path.posix.join(path.posix.dirname(from), file);
  if (to.startsWith('..')) return 'it leads out of the repository';
  if (!existsSync(path.join(root, to))) return 'there is no such file';
  if (anchor === undefined) return null;
  if (!to.endsWith('.md')) return 'a heading of what is no document';
  return anchorsOf(textOf(to)).has(anchor) ? null : 'there is no such heading';
}

describe('the links of', () => {
  for (const file of documents()) {
    test(file, () => {
      const wrong = relativeLinksOf(textOf(file)).flatMap(({ target, line }) => {
        const error = errorOf(file, target);
        return error === null ? [] : [`line ${line}: ${target}: ${error}`];
      });
      assert.deepEqual(wrong, []);
    });
  }
});

test('links: every page under docs can be reached from the README', () => {
  const reached = new Set(['README.md']);
  for (const from of reached) {
    for (const { target } of relativeLinksOf(textOf(from))) {
      const [file = ''] = target.split('#');
      const to = path.posix.join(path.posix.dirname(from), file);
      if (file.endsWith('.md')) reached.add(to);
    }
  }
  assert.deepEqual(
    documents().filter((file) => !reached.has(file)),
    [],
  );
});

test('links: the index of docs links to every other page there', () => {
  const linked = new Set(
    relativeLinksOf(textOf('docs/README.md')).map(({ target }) =>
      path.posix.join('docs', target.split('#')[0] ?? ''),
    ),
  );
  const pages = documents().filter((file) => file.startsWith('docs/') && file !== 'docs/README.md');
  assert.deepEqual(
    pages.filter((file) => !linked.has(file)),
    [],
  );
});

test('links: errors are found', () => {
  assert.equal(errorOf('README.md', 'docs/guide/first-site.md#1-install'), null);
  assert.match(errorOf('README.md', 'docs/guide/no-site.md') ?? '', /no such file/);
  assert.match(errorOf('README.md', '#no-such-heading') ?? '', /no such heading/);
  assert.match(errorOf('README.md', '../elsewhere.md') ?? '', /out of the repository/);
});
