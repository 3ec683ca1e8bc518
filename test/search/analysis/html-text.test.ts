/** The text of HTML (docs/reference/indexes-and-queries.md "Words of a field"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSync, workBudget } from '../../../src/lib/cooperative-yield.ts';
import { textOfHtml } from '../../../src/search/analysis/html-text.ts';

const textOf = (html: string) => runSync(textOfHtml(html));

test('html: blocks separate words, inline elements do not, and entities are decoded', () => {
  const html = '<p>chimi<b>changas</b>&nbsp;and Caf&eacute;</p><strong>x</strong>';
  assert.equal(textOf(html), 'chimichangas\u00a0and Café x');
  assert.equal(textOf('a<br>b<BR/>c<hr>d'), 'a b c d');
  assert.equal(textOf('<ul>\n  <li>one</li>\n  <li>two\n</ul>three'), 'one two\n three');
  assert.equal(textOf('<table><tr><td>a<td>b</table>'), 'a b');
  assert.equal(textOf('wo<span class="a > b">r</span>d<wbr>s <img alt="no">'), 'words ');
  assert.equal(textOf('&#x1F600; &amp;lt; &notit; &copy'), '😀 &lt; ¬it; ©');
});

test('html: script, style, template, comments and attributes contain no words', () => {
  const html =
    'a<script>if (1 < 2) "</p>"</script>b<STYLE>p{}</STYLE>c<!-- d --><template>e<template>f</template>g</template>h';
  assert.equal(textOf(html), 'abch');
  assert.equal(textOf('<template><script></template></script>x</template>y'), 'y');
  assert.equal(textOf('<p title="x" data-y=\'z\'>a</p'), 'a');
});

test('html: text that is not markup is unchanged', () => {
  for (const text of ['plain', 'a < b', '1 <2 & 3>', 'R&D', '']) assert.equal(textOf(text), text);
});

test('html: a long text is read in steps without losing any of it, however deep its tags are', (context) => {
  const { clock } = workBudget;
  context.after(() => {
    workBudget.clock = clock;
  });
  const deep = 100_000;
  const html = `${'<p>é&eacute;<b>'.repeat(deep)}end`;
  let steps = 0;
  workBudget.clock = () => true;
  const reading = textOfHtml(html);
  for (;;) {
    const { done, value } = reading.next();
    if (done) {
      assert.equal(value, `${Array.from({ length: deep }, () => 'éé').join(' ')}end`);
      break;
    }
    steps += 1;
  }
  assert.ok(steps > 20, `${steps} pauses`);
});
