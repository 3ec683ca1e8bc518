/** Runs a command on a machine where nothing may be installed yet. So it is plain JavaScript without dependencies. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { builtFolder, builtName, isClone } from '../../typescript/clone-or-package.mjs';
import { importOwn } from '../../typescript/import-own.mjs';
import { commandsOfClones, commandsWithRedis, isCommand } from '../commands.mjs';
import { handleArguments } from '../help.mjs';
import { loadHttpLibrary } from './http-library.mjs';
import { BootstrapStop, ensureNodeModules } from './node-modules.mjs';
import { ensureRedisServer, ensureTestPrograms } from './programs.mjs';

const nodeVersionMin = [20, 12];
const commandFolder = fileURLToPath(new URL('../', import.meta.url));
const root = path.resolve(commandFolder, '../..');

/** True for commands that start their own Redis. `start` does so only if none is configured. */
export function needsRedisServer(command) {
  if (commandsWithRedis.includes(command)) return true;
  return startsEverything(command) && !isRedisConfigured();
}

function startsEverything(command) {
  return command === 'start' || command === 'dev';
}

function isRedisConfigured() {
  const settings = givenSettings();
  const names = ['REDIS_URL', 'REDIS_CLUSTER', 'REDIS_SENTINEL'];
  return names.some((name) => settings[name]?.trim());
}

/** Environment variables, which take precedence over those in the file `.env`. */
export function givenSettings() {
  return { ...readDotEnv(), ...process.env };
}

/** The settings in `.env`. The command itself reports an unreadable file, because it reads the file too. */
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

/** In a deleted folder, Node would hang when it starts the TypeScript loader. */
function checkWorkingDir() {
  try {
    process.cwd();
  } catch {
    throw new BootstrapStop(
      'The working directory no longer exists. Change to another folder and run the same command again.',
    );
  }
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

/** Stops `start` if the HTTP library does not work. Otherwise its processes would crash and be restarted forever. */
function requireHttpLibrary() {
  try {
    loadHttpLibrary();
  } catch (error) {
    throw new BootstrapStop(error.message);
  }
}

/**
 * Checks and installs what a command needs, then runs `src/cli/COMMAND.ts`, or its compiled form in the package, in this
 * process, so that signals and exit codes need not be passed on.
 * @throws BootstrapStop with a one-line message
 */
async function main(command = '', ...commandArguments) {
  checkNodeVersion();
  checkWorkingDir();
  const code = isCommand(command) ? handleArguments(command, commandArguments) : null;
  if (code !== null) {
    process.exitCode = code;
    return;
  }
  const file = commandFile(command);
  // An installed package has no lock file: npm has installed its dependencies.
  if (isClone) ensureNodeModules(root);
  if (startsEverything(command)) requireHttpLibrary();
  if (needsRedisServer(command)) await ensureRedisServer();
  if (command === 'test' || command === 'coverage') await ensureTestPrograms();
  process.argv = [process.execPath, file, ...commandArguments];
  await importOwn(new URL(`../${command}.ts`, import.meta.url));
}

/** Runs the command in the arguments. A `BootstrapStop` prints one line and sets exit code 1. */
export async function runArguments(words) {
  try {
    await main(...words);
  } catch (error) {
    if (!(error instanceof BootstrapStop)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
