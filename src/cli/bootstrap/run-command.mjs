/**
 * Runs a command on a machine where nothing may be installed yet. So this file is plain JavaScript without dependencies.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseEnv } from 'node:util';
import { builtFolder, builtName, isClone } from '../../typescript/clone-or-package.mjs';
import { commandsOfClones, commandsWithRedis, isCommand } from '../commands.mjs';
import { answerWords } from '../help.mjs';
import { loadHttpLibrary } from './http-library.mjs';
import { BootstrapStop, ensureNodeModules } from './node-modules.mjs';
import { ensureRedisServer, ensureTestPrograms } from './programs.mjs';

const nodeVersionMin = [20, 12];
const commandFolder = fileURLToPath(new URL('../', import.meta.url));
const root = path.resolve(commandFolder, '../..');

/** True for commands that start a Redis of their own. `start` does so only when it is not given one. */
export function needsRedisServer(command) {
  if (commandsWithRedis.includes(command)) return true;
  return startsEverything(command) && !redisIsGiven();
}

function startsEverything(command) {
  return command === 'start' || command === 'dev';
}

function redisIsGiven() {
  const settings = givenSettings();
  const names = ['REDIS_URL', 'REDIS_CLUSTER', 'REDIS_SENTINEL'];
  return names.some((name) => settings[name]?.trim());
}

/** Variables of the environment, and of the file `.env` below them. */
export function givenSettings() {
  return { ...readDotEnv(), ...process.env };
}

/** The settings in `.env`. If the file cannot be read, the command itself reports it, because it reads the file too. */
function readDotEnv() {
  try {
    return parseEnv(readFileSync('.env', 'utf8'));
  } catch {
    return {};
  }
}

function checkNodeVersion() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [majorMin, minorMin] = nodeVersionMin;
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return;
  throw new BootstrapStop(
    `Millrace needs Node ${nodeVersionMin.join('.')} or newer, this is ${process.versions.node}. ` +
      'Install a newer one from https://nodejs.org and run the same command again.',
  );
}

function commandFile(command) {
  const file = isClone
    ? path.join(commandFolder, `${command}.ts`)
    : path.join(builtFolder, `${builtName(`src/cli/${command}.ts`)}.js`);
  const isHere = isClone || !commandsOfClones.includes(command);
  if (isCommand(command) && isHere && existsSync(file)) return file;
  throw new BootstrapStop(
    `Unknown command '${command}'. ${isClone ? 'See the scripts of package.json: npm run' : 'See: npx millrace --help'}`,
  );
}

/** Stops `start` when the HTTP library cannot run. Otherwise its processes would end and be started again for ever. */
function requireHttpLibrary() {
  try {
    loadHttpLibrary();
  } catch (error) {
    throw new BootstrapStop(error.message);
  }
}

/**
 * Makes sure of everything that a command needs, then runs `src/cli/COMMAND.ts`, or what the package has of it, in this same process, so that a signal or an
 * exit code has one place to go.
 * @throws BootstrapStop with one line for people
 */
async function main(command = '', ...commandArguments) {
  checkNodeVersion();
  const code = isCommand(command) ? answerWords(command, commandArguments) : null;
  if (code !== null) {
    process.exitCode = code;
    return;
  }
  const file = commandFile(command);
  // A package has no lock file of its own: npm has installed it.
  if (isClone) ensureNodeModules(root);
  if (startsEverything(command)) requireHttpLibrary();
  if (needsRedisServer(command)) await ensureRedisServer();
  if (command === 'test' || command === 'coverage') await ensureTestPrograms();
  process.argv = [process.execPath, file, ...commandArguments];
  if (isClone) await import('../../typescript/loader.mjs');
  await import(pathToFileURL(file).href);
}

/** Runs a command of a process's arguments. A mistake of people is one line and exit code 1. */
export async function runArguments(words) {
  try {
    await main(...words);
  } catch (error) {
    if (!(error instanceof BootstrapStop)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
