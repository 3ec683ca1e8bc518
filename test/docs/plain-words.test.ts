/** Counts words for which plain English has better ones, so that their number only falls. Lower a budget when you remove some. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { documents, root, textOf } from './support/markdown.ts';

interface PlainWord {
  readonly instead: string;
  readonly pattern: RegExp;
  /** How often it may occur. */
  readonly docs: number;
  readonly src: number;
}

/** "There is no", "stands for" and "no more than" are plain English. */
const words: Readonly<Record<string, PlainWord>> = {
  anew: { instead: 'again, from the beginning', pattern: /\banew\b(?! =|\(|\)\))/gi, docs: 0, src: 0 },
  behind: { instead: 'after', pattern: /\bbehind\b/gi, docs: 25, src: 46 },
  'is no': {
    instead: 'is not a',
    pattern: /(?<!there )\b(?:is|are|was|were) no (?!longer|more than)/gi,
    docs: 0,
    src: 3,
  },
  mend: { instead: 'fix', pattern: /\bmend(?:s|ed|ing)?\b/gi, docs: 0, src: 0 },
  stands: { instead: 'is', pattern: /\b(?:stands?|stood)\b(?! (?:for|alone)\b)/gi, docs: 0, src: 3 },
  told: { instead: 'report, notify, send', pattern: /\b(?:tells?|told)\b/gi, docs: 4, src: 13 },
  whoever: { instead: 'anyone who', pattern: /\bwhoever\b/gi, docs: 0, src: 0 },
};

const docs = documents()
  .filter((file) => file !== 'CHANGELOG.md' && file !== 'bench/README.md')
  .map(textOf);
const src = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(?:ts|tsx|mjs|lua)$/.test(file))
  .map((file) => textOf(path.join('src', file)));

function countIn(texts: readonly string[], pattern: RegExp): number {
  return texts.reduce((sum, text) => sum + [...text.matchAll(pattern)].length, 0);
}

describe('plain words: at most the budget of', () => {
  for (const [word, { instead, pattern, docs: docsMax, src: srcMax }] of Object.entries(words)) {
    test(word, () => {
      const found = { docs: countIn(docs, pattern), src: countIn(src, pattern) };
      assert.ok(
        found.docs <= docsMax && found.src <= srcMax,
        `"${word}" occurs ${found.docs} times in docs (at most ${docsMax}) and ${found.src} times in src (at most ${srcMax}). Write: ${instead}`,
      );
    });
  }
});

test('plain words: they are found, and good English is not', () => {
  const text = 'It is no list. There is no list. It stands here. MIB stands for it. It is no longer so.';
  const found = Object.entries(words).filter(([, { pattern }]) => countIn([text], pattern) > 0);
  assert.deepEqual(
    found.map(([word]) => word),
    ['is no', 'stands'],
  );
});
