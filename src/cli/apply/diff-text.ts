/** Formats the changes of a configuration for a terminal. */

import { styleText } from 'node:util';
import type { Json } from '../../contract/json.ts';
import { grouped } from '../../lib/message-text.ts';
import type { ConfigurationDiff } from '../../trial/dry-run/diff.ts';

const kinds = ['views', 'routes', 'handles', 'items'] as const;
const changes = ['added', 'changed', 'removed', 'same'] as const;
/** Longer values in samples are truncated. */
const valueCharactersMax = 400;
const columnWidth = 12;

export function diffText(diff: ConfigurationDiff): string {
  return [...table(diff), ...samples(diff), 'Nothing was stored.'].join('\n');
}

function table(diff: ConfigurationDiff): string[] {
  const row = (cells: readonly string[]) =>
    cells
      .map((cell, at) => (at === 0 ? cell.padEnd(columnWidth) : cell.padStart(columnWidth)))
      .join('')
      .trimEnd();
  return [
    row(['', ...changes]),
    ...kinds.map((kind) => row([kind, ...changes.map((change) => grouped(diff[kind][change]))])),
    '',
  ];
}

function samples({ samples: { added, changed, removed } }: ConfigurationDiff): string[] {
  return [
    ...added.flatMap(({ id, after }) => [`+ ${id}`, plus(after), '']),
    ...changed.flatMap(({ id, before, after }) => [`~ ${id}`, ...memberLines(before, after), '']),
    ...removed.flatMap(({ id, before }) => [`- ${id}`, minus(before), '']),
  ];
}

/** Lines for the members that differ. */
function memberLines(before: Json, after: Json): string[] {
  const [old, now] = [membersOf(before), membersOf(after)];
  if (old === null || now === null) return [minus(before), plus(after)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((name) => {
    const [a, b] = [old.get(name), now.get(name)];
    if (JSON.stringify(a) === JSON.stringify(b)) return [];
    return [...(a === undefined ? [] : [minus(a, name)]), ...(b === undefined ? [] : [plus(b, name)])];
  });
}

function membersOf(value: Json): Map<string, Json> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return new Map(Object.entries(value));
}

function plus(value: Json, name?: string): string {
  return coloured('green', `    + ${shown(value, name)}`);
}

function minus(value: Json, name?: string): string {
  return coloured('red', `    - ${shown(value, name)}`);
}

function shown(value: Json, name?: string): string {
  const text = JSON.stringify(value);
  const cut = text.length > valueCharactersMax ? `${text.slice(0, valueCharactersMax)}…` : text;
  return name === undefined ? cut : `${name}: ${cut}`;
}

/** Colours only on terminals (https://no-color.org). */
function coloured(colour: 'green' | 'red', text: string): string {
  return process.stdout.isTTY && !process.env.NO_COLOR ? styleText(colour, text) : text;
}
