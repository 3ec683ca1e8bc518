/**
 * Programs that commands need besides Node. What is missing is installed from the packages of the system, by apt or Homebrew, and no
 * service of theirs stays running.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { BootstrapStop } from './node-modules.mjs';

const redisMajorMin = 7;
/** Some tests use them. They are named like their packages. */
const testPrograms = ['nginx', 'chromium'];
/** Where Debian keeps programs of services. It is not on every PATH. */
const serviceFolder = '/usr/sbin';
/** Debian runs this file to ask whether a service may start. */
const debianPolicyFile = '/usr/sbin/policy-rc.d';
const policyText = '#!/bin/sh\n# Millrace: no service starts while packages are being installed.\nexit 101\n';

/** The steps are run in order. `NAME=VALUE` words precede a command as in a shell. */
const installers = [
  {
    tool: 'apt-get',
    redis: 'redis-server',
    needsRoot: true,
    steps: (name) => ['apt-get update -qq', `DEBIAN_FRONTEND=noninteractive apt-get install -y -qq ${name}`],
  },
  { tool: 'brew', redis: 'redis', needsRoot: false, steps: (name) => [`brew install ${name}`] },
];

/** A person has stopped the installation. */
class Stopped extends Error {}

/**
 * Makes sure that a `redis-server` that is new enough is on the PATH.
 * @throws BootstrapStop with one line that says what to do
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

/** Major version of the `redis-server` on the PATH; null when there is none. */
function redisServerMajor() {
  const { stdout, status } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' });
  if (status !== 0) return null;
  const version = /v=(\d+)/.exec(stdout);
  return version === null ? null : Number(version[1]);
}

/**
 * Installs what tests use. Where that is not possible it says so and continues: only the tests that use the program fail
 * then, and all others run.
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
 * @param {string} missing what is wrong without it, for people
 * @throws BootstrapStop with the commands to type
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
  const stops = noteStops();
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
 * Notes signals and does not end. A Ctrl-C reaches the package manager as well, which ends in its own time. If this
 * process ended before, the policy file would stay behind.
 */
function noteStops() {
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

/** The words before a command that give it enough rights; null when that needs a password. */
function rightsPrefix({ needsRoot }) {
  if (!needsRoot || isRoot()) return [];
  const allowed = isOnPath('sudo') && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0;
  return allowed ? ['sudo', '-n'] : null;
}

/** Runs a step without blocking, so that signals are handled. @throws Error with the last line that the step wrote */
async function runStep(prefix, step) {
  // `env` takes the NAME=VALUE words, which also lets them through sudo.
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
 * Debian starts the service of a package as soon as it is installed: a Redis on port 6379, an nginx on port 80. Nobody asked
 * for those here. While packages are installed, a `policy-rc.d` that answers "not now" (101) keeps services off. If
 * the machine already has such a file, it is left as it is.
 * @returns a function that removes the file again
 */
function keepServicesStopped({ tool }, prefix, policyFile) {
  if (tool !== 'apt-get' || isSomebodyElses(policyFile)) return () => {};
  const folder = mkdtempSync(path.join(os.tmpdir(), 'millrace-'));
  const script = path.join(folder, 'policy-rc.d');
  writeFileSync(script, policyText);
  chmodSync(script, 0o755);
  run([...prefix, 'cp', script, policyFile]);
  rmSync(folder, { recursive: true });
  return () => run([...prefix, 'rm', '-f', policyFile]);
}

/** True when the file is not ours. One of ours may be there, left by an installation that was killed. */
function isSomebodyElses(policyFile) {
  return existsSync(policyFile) && readFileSync(policyFile, 'utf8') !== policyText;
}

function run([program, ...words]) {
  spawnSync(program, words, { stdio: 'ignore' });
}
