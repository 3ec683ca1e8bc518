/** The two walks of ARCHITECTURE.md, file by file. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { root, textOf } from './support/markdown.ts';

/** Maximum number of files that a property of a saved entity passes through, and a word of a query. */
const filesMax = [43, 28];
const linesMax = 400;

interface Walk {
  /** The number in its heading. */
  readonly fileCount: number;
  readonly files: readonly string[];
}

function walksIn(text: string): Walk[] {
  const [, section = ''] = /^## Two walks\n([\s\S]*?)^## /m.exec(text) ?? [];
  const walks = section.split(/^(?=\*\*)/m).slice(1);
  return walks.map((walk) => ({
    fileCount: Number(/^\*\*.*\*\*, (\d+) files/.exec(walk)?.[1]),
    files: [...walk.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file = '']) => `src/${file}`),
  }));
}

test('walks: the walks of ARCHITECTURE.md are short enough, through existing files', () => {
  const walks = walksIn(textOf('ARCHITECTURE.md'));
  assert.equal(walks.length, filesMax.length);
  for (const [at, { fileCount, files }] of walks.entries()) {
    assert.equal(files.length, fileCount);
    assert.equal(new Set(files).size, fileCount);
    assert.ok(fileCount <= (filesMax[at] ?? 0), `${fileCount} files`);
    for (const file of files) {
      assert.ok(existsSync(path.join(root, file)), file);
      assert.ok(textOf(file).split('\n').length <= linesMax, `${file} is too long to be one idea`);
    }
  }
});
