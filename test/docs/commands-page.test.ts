/** The page of commands is what `--help` prints. `MILLRACE_WRITE_PAGES=1` writes it anew. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { type CommandName, commands } from '../../src/cli/commands.mjs';
import { helpText, script } from '../../src/cli/help.mjs';
import { root, textOf } from './support/markdown.ts';

const file = 'docs/reference/commands.md';
const [begin, end] = ['<!-- commands -->', '<!-- /commands -->'] as const;

function generated(): string {
  const names = Object.keys(commands) as CommandName[];
  return names.map((name) => `## ${script(name)}\n\n\`\`\`text\n${helpText(name)}\n\`\`\`\n`).join('\n');
}

test('the page of commands has every command as --help tells it', () => {
  const page = textOf(file);
  const [before, rest = ''] = page.split(begin);
  const [, after = ''] = rest.split(end);
  const whole = `${before}${begin}\n\n${generated()}\n${end}${after}`;
  if (process.env.MILLRACE_WRITE_PAGES === '1') writeFileSync(path.join(root, file), whole);
  assert.equal(textOf(file), whole, 'write it anew with MILLRACE_WRITE_PAGES=1');
});
