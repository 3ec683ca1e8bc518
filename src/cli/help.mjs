// @ts-check
/** Prints `--help`, and the mistake of words that a command does not know. Both come from the table of commands. */
import { parseArgs } from 'node:util';
import { asTyped, isClone, script } from '../lib/typed-command.mjs';
import { commands, commandsOfClones } from './commands.mjs';

const helpWords = ['--help', '-h'];

/** Options that npm has settings of the same name for: an .npmrc may hold them, whatever is typed. */
const settingsOfNpm = ['json', 'yes'];

/**
 * Answers words that need only the table: prints the help, or what is wrong with the words.
 * @param {import('./commands.mjs').CommandName} name
 * @param {readonly string[]} words
 * @returns {number | null} the exit code with which to end; null: go on
 */
export function answerWords(name, words) {
  if (asksForHelp(words)) {
    console.log(helpText(name));
    return 0;
  }
  const mistake = takenByNpm(name, words) ?? wordsMistake(name, words);
  if (mistake === null) return null;
  console.error(mistake);
  return command(name).wrongWordsCode ?? 1;
}

/**
 * Behind `--` nothing asks for help.
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
      const told = usual === undefined ? meaning : `${meaning} (default: ${usual})`;
      return /** @type {const} */ ([`--${option}${value === undefined ? '' : ` ${value}`}`, told]);
    }),
    /** @type {const} */ (['--help', 'this text']),
  ];
  const width = Math.max(...lines.map(([word]) => word.length));
  const table = lines.map(([word, meaning]) => `  ${word.padEnd(width)}  ${meaning}`);
  const parts = [`Usage: ${usage(name)}`, does, table.join('\n'), `Example: ${example}`, `Exit code ${ends}`];
  return asTyped(parts.join('\n\n'));
}

/**
 * The mistake of an option that stood before `--`, in one line; null when there is none. npm takes such an option for
 * itself, and only its environment tells: without a look at that, `npm run apply --dry-run` would apply.
 * @param {import('./commands.mjs').CommandName} name
 * @param {readonly string[]} words
 * @returns {string | null}
 */
function takenByNpm(name, words) {
  const isRunByNpm = isClone && script(name).split(' ').at(-1) === process.env.npm_lifecycle_event;
  if (!isRunByNpm) return null;
  for (const option of Object.keys(command(name).options)) {
    const whole = `--${option}`;
    if (settingsOfNpm.includes(option) || words.includes(whole)) continue;
    const [, no, variable = ''] = /^(no-)?(.*)$/.exec(option) ?? [];
    const value = process.env[`npm_config_${variable.replaceAll('-', '_')}`];
    if (value === undefined || (value === '') !== (no !== undefined)) continue;
    return `npm took ${whole} for itself: write options behind --, as in ${withWords(name)} ${whole}`;
  }
  return null;
}

/**
 * The mistake in the words of a command line, in one line that says where to look; null when there is none.
 * @param {import('./commands.mjs').CommandName} name
 * @param {readonly string[]} words
 * @returns {string | null}
 */
export function wordsMistake(name, words) {
  const { options, words: places = {}, passesOn } = command(name);
  if (passesOn) return null;
  try {
    const { positionals } = parseArgs({ args: [...words], options, allowPositionals: true });
    const surplus = positionals[Object.keys(places).length];
    if (surplus === undefined) return null;
    return `'${surplus}' is one word too many. ${seeHelp(name)}`;
  } catch (error) {
    return `${firstSentence(error)}. ${seeHelp(name)}`;
  }
}

/**
 * The line that says where to find help for a command.
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
  return all.length === 0 ? script(name) : `${withWords(name)} ${all.join(' ')}`;
}

/**
 * A command as it is typed before words of its own.
 * @param {import('./commands.mjs').CommandName} name
 */
function withWords(name) {
  return isClone ? `${script(name)} --` : script(name);
}

/** All commands with what they do in short, for who types `millrace` alone. */
export function commandList() {
  const names = /** @type {import('./commands.mjs').CommandName[]} */ (Object.keys(commands)).filter(
    (name) => !commandsOfClones.includes(name),
  );
  const width = Math.max(...names.map((name) => name.length));
  const lines = names.map((name) => `  ${name.padEnd(width)}  ${inShort(command(name).does)}`);
  return ['Usage: millrace COMMAND', lines.join('\n'), 'millrace COMMAND --help says more of each.'].join(
    '\n\n',
  );
}

/** @param {string} does */
function inShort(does) {
  return asTyped((does.split(/[.:,](?:\s|$)/)[0] ?? '').replaceAll('\n', ' '));
}

/**
 * Node goes on to explain how a word that looks like an option can be given all the same.
 * @param {unknown} error
 */
function firstSentence(error) {
  return (error instanceof Error ? error.message : String(error)).split(/\. |\n/)[0]?.replace(/\.$/, '');
}
