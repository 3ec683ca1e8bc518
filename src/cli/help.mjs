// @ts-check
/** Prints `--help` and rejects unknown arguments, both from the table of commands. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { asTyped, script } from '../lib/typed-command.mjs';
import { isClone } from '../typescript/clone-or-package.mjs';
import { commands, commandsOfClones } from './commands.mjs';

const helpWords = ['--help', '-h'];

/** Options that are also npm settings: a .npmrc may set them, so their presence proves nothing. */
const settingsOfNpm = ['json', 'yes'];

/**
 * Handles everything that needs only the table: prints the help, or the error in the arguments.
 * @param {import('./commands.mjs').CommandName} name
 * @param {readonly string[]} words
 * @returns {number | null} the exit code; null to run the command
 */
export function handleArguments(name, words) {
  if (asksForHelp(words)) {
    console.log(helpText(name));
    return 0;
  }
  const message = consumedByNpm(name, words) ?? argumentsError(name, words);
  if (message === null) return null;
  console.error(message);
  return command(name).wrongWordsCode ?? 1;
}

/**
 * After `--`, `--help` is a normal argument.
 * @param {readonly string[]} words
 */
function asksForHelp(words) {
  const end = words.indexOf('--');
  return words.slice(0, end < 0 ? words.length : end).some((word) => helpWords.includes(word));
}

/**
 * @param {import('./commands.mjs').CommandName} name
 * @returns {string}
 */
export function helpText(name) {
  const { does, options, words = {}, example, ends } = command(name);
  const lines = [
    ...Object.entries(words).map(([word, meaning]) => /** @type {const} */ ([word, meaning])),
    ...Object.entries(options).map(([option, { value, meaning, default: usual }]) => {
      const text = usual === undefined ? meaning : `${meaning} (default: ${usual})`;
      return /** @type {const} */ ([`--${option}${value === undefined ? '' : ` ${value}`}`, text]);
    }),
    /** @type {const} */ (['--help', 'show this help']),
  ];
  const width = Math.max(...lines.map(([word]) => word.length));
  const table = lines.map(([word, meaning]) => `  ${word.padEnd(width)}  ${meaning}`);
  const parts = [
    `Usage: ${usage(name)}`,
    // The table of commands breaks its lines for editors.
    does.replaceAll(/(?<=\S)\n(?=\S)/g, ' '),
    table.join('\n'),
    `Example: ${example}`,
    `Exit code ${ends}`,
  ];
  return asTyped(parts.join('\n\n')).split('\n').map(wrapped).join('\n');
}

/**
 * Error message for an option before `--`; null if there is none. npm consumes such options, and only the environment shows
 * them: without this check, `npm run apply --dry-run` would apply.
 * @param {import('./commands.mjs').CommandName} name
 * @param {readonly string[]} words
 * @returns {string | null}
 */
function consumedByNpm(name, words) {
  const isRunByNpm = isClone && script(name).split(' ').at(-1) === process.env.npm_lifecycle_event;
  if (!isRunByNpm) return null;
  for (const option of Object.keys(command(name).options)) {
    const whole = `--${option}`;
    if (settingsOfNpm.includes(option) || words.includes(whole)) continue;
    const [, no, variable = ''] = /^(no-)?(.*)$/.exec(option) ?? [];
    const value = process.env[`npm_config_${variable.replaceAll('-', '_')}`];
    if (value === undefined || (value === '') !== (no !== undefined)) continue;
    return `npm consumed ${whole}. Write options after --, as in: ${withWords(name)} ${whole}`;
  }
  return null;
}

/**
 * Error message for invalid arguments, in one line with a reference to the help; null if they are valid.
 * @param {import('./commands.mjs').CommandName} name
 * @param {readonly string[]} words
 * @returns {string | null}
 */
export function argumentsError(name, words) {
  const { options, words: places = {}, passesOn } = command(name);
  if (passesOn) return null;
  try {
    const { positionals } = parseArgs({ args: [...words], options, allowPositionals: true });
    const surplus = positionals[Object.keys(places).length];
    if (surplus === undefined) return null;
    return `Unexpected argument '${surplus}'. ${seeHelp(name)}`;
  } catch (error) {
    return `${firstSentence(error)}. ${seeHelp(name)}`;
  }
}

/**
 * The line that points to the help of a command.
 * @param {import('./commands.mjs').CommandName} name
 */
export function seeHelp(name) {
  return `See: ${withWords(name)} --help`;
}

/**
 * @param {import('./commands.mjs').CommandName} name
 * @returns {import('./commands.mjs').Command}
 */
function command(name) {
  return commands[name];
}

/** Fits the usual terminal. */
const lineMax = 80;

/**
 * Wraps a long line: the usage at its options, a row of a table in its last column. An example stays one line, to be copied.
 * @param {string} line
 * @returns {string}
 */
function wrapped(line) {
  if (line.length <= lineMax || line.startsWith('Example:')) return line;
  const [begin = ''] = /^(?:Usage: | {2}.*?\S {2,}| +)/.exec(line) ?? [];
  const isUsage = begin === 'Usage: ' || begin === usageIndent;
  const end = line.lastIndexOf(isUsage ? ' [' : ' ', lineMax);
  if (end <= begin.length) return line;
  return `${line.slice(0, end)}\n${wrapped(' '.repeat(begin.length) + line.slice(end + 1))}`;
}

const usageIndent = ' '.repeat('Usage: '.length);

/** @param {import('./commands.mjs').CommandName} name */
function usage(name) {
  const { options, words = {} } = command(name);
  const all = [
    ...Object.keys(words),
    ...Object.entries(options).map(([option, { value, isRequired }]) => {
      const whole = `--${option}${value === undefined ? '' : ` ${value}`}`;
      return isRequired ? whole : `[${whole}]`;
    }),
  ];
  if (!isClone) return ['millrace', name, ...all].join(' ');
  return all.length === 0 ? script(name) : `${withWords(name)} ${all.join(' ')}`;
}

/**
 * A command, as typed before its arguments.
 * @param {import('./commands.mjs').CommandName} name
 */
function withWords(name) {
  return isClone ? `${script(name)} --` : script(name);
}

/**
 * The version of the package.
 * @returns {string}
 */
export function ownVersion() {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}

/** The list of commands with short descriptions, printed by `millrace` without arguments. */
export function commandList() {
  const names = /** @type {import('./commands.mjs').CommandName[]} */ (Object.keys(commands)).filter(
    (name) => !commandsOfClones.includes(name),
  );
  const width = Math.max(...names.map((name) => name.length));
  const lines = names.map((name) => `  ${name.padEnd(width)}  ${inShort(command(name).does)}`);
  return [
    'Usage: millrace COMMAND',
    lines.join('\n'),
    'Details: npx millrace COMMAND --help\nVersion: npx millrace --version',
  ].join('\n\n');
}

/** @param {string} does */
function inShort(does) {
  return asTyped((does.split(/[.:,](?:\s|$)/)[0] ?? '').replaceAll('\n', ' '));
}

/**
 * Drops the rest of Node's message, which is advice about arguments that look like options.
 * @param {unknown} error
 */
function firstSentence(error) {
  return (error instanceof Error ? error.message : String(error)).split(/\. |\n/)[0]?.replace(/\.$/, '');
}
