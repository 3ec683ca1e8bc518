/** Identifies scripts of the store by their source. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Scripts of the store by file name, each after the part that its head names; one byte per character, as Redis receives them. */
export function scriptTexts(): ReadonlyMap<string, string> {
  return new Map([...scriptNames].map(([text, name]) => [name, partOf(text) + text]));
}

/** The part that a script names, preceded by the part that this one names. */
function partOf(text: string): string {
  const [, part] = /[Aa]fter\s+`(parts\/[\w-]+\.lua)`/.exec(text) ?? [];
  if (part === undefined) return '';
  const own = readScript(part);
  return partOf(own) + own;
}

const scriptFolder = new URL('../../../../src/store/scripts/', import.meta.url);
/**
 * Names of scripts by the source below the first line, before which the store may insert something; one byte per character, as
 * Redis receives them.
 */
const scriptNames = new Map(
  readdirSync(scriptFolder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.lua') && !file.startsWith('parts'))
    .map((file) => [withoutHead(readScript(file)), path.basename(file, '.lua')]),
);

/** The head ends with the first line. */
function withoutHead(text: string): string {
  return text.slice(text.indexOf('\n'));
}

function readScript(file: string): string {
  return readFileSync(new URL(file, scriptFolder), 'latin1');
}

const namesBySource = new Map<string, string>();

/** @returns the name of a script, or '' if it is not one of the store */
export function scriptName(source: string): string {
  const known = namesBySource.get(source);
  if (known !== undefined) return known;
  const [, name = ''] = [...scriptNames].find(([text]) => source.endsWith(text)) ?? [];
  namesBySource.set(source, name);
  return name;
}
