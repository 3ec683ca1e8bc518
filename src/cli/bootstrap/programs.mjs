/**
 * Programs that commands need besides Node. Missing ones are installed by apt or Homebrew, without starting their services.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { BootstrapStop } from './node-modules.mjs';

const redisMajorMin = 7;
/** Programs that some tests use, with the names of their packages. */
const testPrograms = ['nginx', 'chromium'];
/** Debian's folder for programs of services, which is not on every PATH. */
const serviceFolder = '/usr/sbin';
/** Debian runs this script to decide whether a service may start. */
const debianPolicyFile = '/usr/sbin/policy-rc.d';
const policyText = '#!/bin/sh\n# Millrace: no service starts while packages are being installed.\nexit 101\n';

/** Package managers with their commands, which may begin with `NAME=VALUE` words as in a shell. */
const installers = [
  {
    tool: 'apt-get',
    redis: 'redis-server',
    needsRoot: true,
    steps: (name) => ['apt-get update -qq', `DEBIAN_FRONTEND=noninteractive apt-get install -y -qq ${name}`],
  },
  { tool: 'brew', redis: 'redis', needsRoot: false, steps: (name) => [`brew install ${name}`] },
];

/** The user has stopped the installation. */
class Stopped extends Error {}

/**
 * Makes sure that a recent enough `redis-server` is on the PATH.
 * @throws BootstrapStop with a one-line message that says what to do
 */
export async function ensureRedisServer(policyFile = debianPolicyFile) {
  const found = redisServerMajor();
  if (found !== null && found >= redisMajorMin) return;
  const missing =
    found === null
      ? 'redis-server is not installed'
      : `redis-server ${found} is too old (${redisMajorMin} is needed)`;
  const installer = systemInstaller();
  if (installer === undefined) {
    throw new BootstrapStop(
      `${missing}. Install Redis ${redisMajorMin} or newer and put redis-server on the PATH, ` +
        'or set REDIS_URL to a running Redis.',
    );
  }
  await install(installer, installer.redis, missing, policyFile);
  const installed = redisServerMajor();
  if (installed !== null && installed >= redisMajorMin) return;
  throw new BootstrapStop(
    `The packages of this system have no redis-server ${redisMajorMin} or newer. Install one from ` +
      'https://redis.io/docs/latest/operate/oss_and_stack/install/, or set REDIS_URL to a running Redis.',
  );
}

/** Major version of the `redis-server` on the PATH; null if there is none. */
function redisServerMajor() {
  const { stdout, status } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' });
  if (status !== 0) return null;
  const version = /v=(\d+)/.exec(stdout);
  return version === null ? null : Number(version[1]);
}

/**
 * Installs the programs that tests use. If that fails, it prints a message and continues, because only the tests that use the
 * program will fail.
 */
export async function ensureTestPrograms(folder = serviceFolder) {
  process.env.PATH = [process.env.PATH, folder].join(path.delimiter);
  const installer = systemInstaller();
  if (installer === undefined) return;
  for (const program of testPrograms) {
    if (isOnPath(program)) continue;
    try {
      await install(installer, program, `${program} is not installed`, debianPolicyFile);
    } catch (error) {
      if (!(error instanceof BootstrapStop)) throw error;
      console.error(`${error.message}. The tests that use ${program} will fail.`);
    }
  }
}

function systemInstaller() {
  return installers.find(({ tool }) => isOnPath(tool));
}

function isOnPath(tool) {
  return (process.env.PATH ?? '')
    .split(path.delimiter)
    .some((folder) => folder !== '' && existsSync(path.join(folder, tool)));
}

/**
 * Installs a package.
 * @param {string} missing message about the missing program
 * @throws BootstrapStop with the commands to run
 */
async function install(installer, name, missing, policyFile) {
  const prefix = rightsPrefix(installer);
  const steps = installer.steps(name);
  const commands = steps
    .map((step) => (installer.needsRoot && !isRoot() ? `sudo ${step}` : step))
    .join(' && ');
  if (prefix === null) {
    throw new BootstrapStop(
      `${missing}, and installing it needs root. Run this, then try again: ${commands}`,
    );
  }
  console.error(`${missing}: installing it from the packages of this system (${installer.tool}) …`);
  const stops = recordStops();
  const letServicesStart = keepServicesStopped(installer, prefix, policyFile);
  try {
    for (const step of steps) {
      await runStep(prefix, step);
      if (stops.isStopped) throw new Stopped();
    }
  } catch (failure) {
    throw new BootstrapStop(
      `Installing ${name} ${failure instanceof Stopped ? 'was stopped' : `failed (${failure.message})`}. ` +
        `Run this, then try again: ${commands}`,
    );
  } finally {
    letServicesStart();
    stops.end();
  }
}

/**
 * Records signals without ending the process. A Ctrl-C also reaches the package manager, which ends by itself. If this process
 * ended first, the policy file would remain.
 */
function recordStops() {
  const noted = { isStopped: false, end: () => {} };
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  const onSignal = () => {
    noted.isStopped = true;
  };
  for (const name of names) process.on(name, onSignal);
  noted.end = () => {
    for (const name of names) process.removeListener(name, onSignal);
  };
  return noted;
}

function isRoot() {
  return process.getuid?.() === 0;
}

/** The words before a command that give it root rights; null if that needs a password. */
function rightsPrefix({ needsRoot }) {
  if (!needsRoot || isRoot()) return [];
  const allowed = isOnPath('sudo') && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0;
  return allowed ? ['sudo', '-n'] : null;
}

/** Runs a step asynchronously, so that signals are handled. @throws Error with the last line of its output */
async function runStep(prefix, step) {
  // `env` sets the NAME=VALUE variables, also behind sudo.
  const [program, ...words] = [...prefix, 'env', ...step.split(' ')];
  const child = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'] });
  let written = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    written += text;
  });
  const [code, signal] = await once(child, 'close');
  if (code === 0) return;
  if (signal !== null) throw new Stopped();
  throw new Error(written.trim().split('\n').at(-1) || `${step} ended with ${code}`);
}

/**
 * Debian starts the service of a package when it is installed: a Redis on port 6379, an nginx on port 80. A `policy-rc.d` that
 * returns 101 prevents that during the installation. An existing file of that name is not changed.
 * @returns a function that removes the file again
 */
function keepServicesStopped({ tool }, prefix, policyFile) {
  if (tool !== 'apt-get' || isForeign(policyFile)) return () => {};
  const folder = mkdtempSync(path.join(os.tmpdir(), 'millrace-'));
  const script = path.join(folder, 'policy-rc.d');
  writeFileSync(script, policyText);
  chmodSync(script, 0o755);
  run([...prefix, 'cp', script, policyFile]);
  rmSync(folder, { recursive: true });
  return () => run([...prefix, 'rm', '-f', policyFile]);
}

/** True if the file exists and is not from this program. Ours may be left from an installation that was killed. */
function isForeign(policyFile) {
  return existsSync(policyFile) && readFileSync(policyFile, 'utf8') !== policyText;
}

function run([program, ...words]) {
  spawnSync(program, words, { stdio: 'ignore' });
}
