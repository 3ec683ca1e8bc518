/** The runbook covers every alert, and quotes existing log lines. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { alertRules } from '../support/prometheus/alert-rules.ts';
import { root, textOf } from './support/markdown.ts';

const page = 'docs/guide/runbook.md';
const text = textOf(page);

interface Part {
  readonly anchor: string;
  readonly text: string;
}

const parts: readonly Part[] = text
  .split(/^## /m)
  .slice(1)
  .map((part) => {
    const [heading = ''] = part.split('\n', 1);
    return { anchor: heading.toLowerCase().replaceAll(' ', '-'), text: part };
  });

/** Commands and requests, which are not logged. */
const commands = /^(?:redis-cli|npm|GET|POST|ulimit) /;

/** All code spans with several words that are not commands. */
function quotedLines(): string[] {
  return [...text.matchAll(/`([^`]+)`/g)]
    .map(([, line = '']) => line.replaceAll(/\s+/g, ' '))
    .filter((line) => line.includes(' ') && !commands.test(line));
}

/** All sources as one string, with line ends as spaces. */
function sources(): string {
  return ['src', 'workers']
    .flatMap((folder) =>
      readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
        path.join(root, folder, file),
      ),
    )
    .filter((file) => /\.(?:ts|mjs)$/.test(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
}

test('runbook: each alert links to a section of the runbook, and that section names the alert', () => {
  const rules = alertRules();
  assert.ok(rules.length > 10);
  for (const { name, runbook } of rules) {
    const [file, anchor] = runbook.split('#');
    assert.equal(file, page, name);
    const part = parts.find((one) => one.anchor === anchor);
    assert.ok(part !== undefined, `${name}: no part ${anchor}`);
    assert.ok(part.text.includes(`\`${name}\``), `${name} is not named under ${anchor}`);
  }
  const known = new Set(rules.map(({ name }) => name));
  for (const [, name = ''] of text.matchAll(/`(Millrace\w+)`/g)) assert.ok(known.has(name), name);
});

/** Log lines with a variable part, and how the code writes them. */
const composed: Readonly<Record<string, string>> = {
  'partitions were taken': 'partitions were $',
  'partitions were released': 'partitions were $',
  'partitions were lost': 'partitions were $',
  'The last lines of redis:': 'The last lines of $',
};

test('runbook: each quoted log line exists in the code', () => {
  const lines = quotedLines();
  assert.ok(lines.length > 20, lines.join('\n'));
  const written = sources();
  for (const line of lines) {
    assert.ok(written.includes(composed[line] ?? line), `nothing logs "${line}"`);
  }
});
