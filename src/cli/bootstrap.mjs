/**
 * Every npm script starts this file: `node src/cli/bootstrap.mjs COMMAND [ARGUMENTS]`. It is plain JavaScript without
 * dependencies, because it runs on a fresh machine before there is a `node_modules`. It makes sure of everything that
 * the command needs. Then it runs `src/cli/COMMAND.ts` in this same process, so that a signal or an exit code has one
 * place to go.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseEnv } from 'node:util';
import { loadHttpLibrary } from './bootstrap/http-library.mjs';
import { ensureNodeModules } from './bootstrap/node-modules.mjs';
import { ensureRedisServer } from './bootstrap/redis-server.mjs';
import { BootstrapStop } from './bootstrap/stop.mjs';
import { isCommand } from './commands.mjs';
import { answerWords } from './help.mjs';

const nodeVersionMin = [20, 12];
const commandFolder = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(commandFolder, '../..');

/** True for commands that start a Redis of their own. `start` does so only when it is not given one. */
function needsRedisServer(command) {
  if (command === 'test') return true;
  return command === 'start' && !redisIsGiven();
}

function redisIsGiven() {
  const settings = { ...readDotEnv(), ...process.env };
  return Boolean(settings.REDIS_URL?.trim() || settings.REDIS_CLUSTER?.trim());
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
  const file = path.join(commandFolder, `${command}.ts`);
  if (isCommand(command) && existsSync(file)) return file;
  throw new BootstrapStop(`There is no command '${command}'. See the scripts of package.json: npm run`);
}

/** Stops `start` when the HTTP library cannot run. Otherwise its processes would end and be started again for ever. */
function requireHttpLibrary() {
  try {
    loadHttpLibrary();
  } catch (error) {
    throw new BootstrapStop(error.message);
  }
}

async function main(command = '', ...commandArguments) {
  checkNodeVersion();
  const file = commandFile(command);
  const code = answerWords(command, commandArguments);
  if (code !== null) {
    process.exitCode = code;
    return;
  }
  ensureNodeModules(root, command === 'test' || command === 'bench');
  if (command === 'start') requireHttpLibrary();
  if (needsRedisServer(command)) await ensureRedisServer();
  process.argv = [process.execPath, file, ...commandArguments];
  await import('../typescript/loader.mjs');
  await import(pathToFileURL(file).href);
}

try {
  await main(...process.argv.slice(2));
} catch (error) {
  if (!(error instanceof BootstrapStop)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
