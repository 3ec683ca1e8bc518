/**
 * Pages that are generated from the code: the text between their markers equals the code. `MILLRACE_WRITE_PAGES=1 npm test --
 * test/docs/made-pages.test.ts` rewrites them.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { type CommandName, commands } from '../../src/cli/commands.mjs';
import { helpText } from '../../src/cli/help.mjs';
import { jsonSchemas } from '../../src/config/json-schemas.ts';
import { listSettings } from '../../src/config/settings/table.ts';
import { script } from '../../src/lib/typed-command.mjs';
import { listLimits } from './support/limit-list.ts';
import { root, textOf } from './support/markdown.ts';

/** Generated text by the name of its markers in `docs/reference/<name>.md`. */
const pages = { commands: commandSections, settings: settingRows, limits: limitRows };

function commandSections(): string {
  const names = Object.keys(commands) as CommandName[];
  return names.map((name) => `## ${script(name)}\n\n\`\`\`text\n${helpText(name)}\n\`\`\`\n`).join('\n');
}

function settingRows(): string {
  return table(
    ['variable', 'default', 'allowed', 'meaning'],
    listSettings().map(({ variable, default: written, allowed, meaning }) => [
      `\`${variable}\``,
      inCode(written),
      allowed,
      meaning,
    ]),
  );
}

/** A default in words is not formatted as code. */
function inCode(written: string): string {
  if (written === '') return 'none';
  return /[`,]/.test(written) ? written : `\`${written}\``;
}

function limitRows(): string {
  return table(
    ['limit', 'value', 'meaning'],
    listLimits(textOf('src/contract/limits.ts')).map(({ name, value, unit, meaning }) => [
      `\`${name}\``,
      `${value.toLocaleString('en-US')} ${unit}`.trim(),
      meaning,
    ]),
  );
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  return line(heads) + line(heads.map(() => '---')) + rows.map(line).join('');
}

for (const [name, generated] of Object.entries(pages)) {
  const file = `docs/reference/${name}.md`;
  test(`${file} equals the code`, () => {
    const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
    const page = textOf(file);
    const [before, rest = ''] = page.split(begin);
    const [, after = ''] = rest.split(end);
    const whole = `${before}${begin}\n\n${generated()}\n${end}${after}`;
    if (process.env.MILLRACE_WRITE_PAGES === '1') writeFileSync(path.join(root, file), whole);
    assert.equal(textOf(file), whole, 'run again with MILLRACE_WRITE_PAGES=1');
  });
}

for (const [name, schema] of Object.entries(jsonSchemas)) {
  const file = `config/json-schemas/${name}.json`;
  test(`${file} equals the code`, () => {
    const whole = `${JSON.stringify(schema, null, 2)}\n`;
    if (process.env.MILLRACE_WRITE_PAGES === '1') writeFileSync(path.join(root, file), whole);
    assert.equal(textOf(file), whole, 'run again with MILLRACE_WRITE_PAGES=1');
  });
}
