import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { BootstrapStop } from './stop.mjs';

/** A person has stopped the installation. */
class Stopped extends Error {}

const majorMin = 7;
const policyText =
  '#!/bin/sh\n# Millrace: no service starts while redis-server is being installed.\nexit 101\n';

/**
 * How each system installs Redis. `steps` are run in order. `asRoot` says whether they need the rights of root.
 * `NAME=VALUE` words stand before a command as in a shell.
 */
const installers = [
  {
    tool: 'apt-get',
    asRoot: true,
    steps: ['apt-get update -qq', 'DEBIAN_FRONTEND=noninteractive apt-get install -y -qq redis-server'],
  },
  { tool: 'apk', asRoot: true, steps: ['apk add --no-progress redis'] },
  { tool: 'dnf', asRoot: true, steps: ['dnf install -y -q redis'] },
  { tool: 'brew', asRoot: false, steps: ['brew install redis'] },
];

/**
 * Makes sure that a `redis-server` of version 7 or newer is on the PATH. Otherwise it stops with a line that says what
 * to do.
 * @param policyFile file that Debian runs to ask whether a service may start
 */
export async function ensureRedisServer(policyFile = '/usr/sbin/policy-rc.d') {
  const found = redisServerMajor();
  if (found !== null && found >= majorMin) return;
  const missing =
    found === null
      ? 'redis-server is not installed'
      : `redis-server ${found} is too old (${majorMin} is needed)`;
  const installer = installers.find(({ tool }) => isOnPath(tool));
  if (installer === undefined) {
    throw new BootstrapStop(
      `${missing}. Install Redis ${majorMin} or newer and put redis-server on the PATH, ` +
        'or set REDIS_URL to a Redis that runs.',
    );
  }
  await install(installer, missing, policyFile);
  const installed = redisServerMajor();
  if (installed !== null && installed >= majorMin) return;
  throw new BootstrapStop(
    `The packages of this system have no redis-server ${majorMin} or newer. Install one from ` +
      'https://redis.io/docs/latest/operate/oss_and_stack/install/, or set REDIS_URL to a Redis that runs.',
  );
}

/** Major version of the `redis-server` on the PATH; null when there is none. */
function redisServerMajor() {
  const { stdout, status } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' });
  if (status !== 0) return null;
  const version = /v=(\d+)/.exec(stdout);
  return version === null ? null : Number(version[1]);
}

function isOnPath(tool) {
  return (process.env.PATH ?? '')
    .split(path.delimiter)
    .some((folder) => folder !== '' && existsSync(path.join(folder, tool)));
}

async function install(installer, missing, policyFile) {
  const prefix = rightsPrefix(installer);
  const commands = installer.steps.map((step) => (installer.asRoot ? asRootByHand(step) : step));
  if (prefix === null) {
    throw new BootstrapStop(
      `${missing}, and installing it needs root. Run this, then try again: ${commands.join(' && ')}`,
    );
  }
  console.error(`${missing}: installing it from the packages of this system (${installer.tool}) …`);
  const interrupt = heedStops();
  const letServicesStart = keepServicesStopped(installer, policyFile);
  try {
    for (const step of installer.steps) {
      await runStep(prefix, step);
      if (interrupt.signal !== null) throw new Stopped();
    }
  } catch (failure) {
    throw new BootstrapStop(
      `Installing Redis ${failure instanceof Stopped ? 'was stopped' : `failed (${failure.message})`}. ` +
        `Run this, then try again: ${commands.join(' && ')}`,
    );
  } finally {
    letServicesStart();
    interrupt.end();
  }
}

/**
 * Notes signals and does not end. A Ctrl-C reaches the package manager as well, which ends in its own time. If this
 * process ended before, the policy file would stay behind.
 */
function heedStops() {
  const heard = { signal: null, end: () => {} };
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  const onSignal = (signal) => {
    heard.signal = signal;
  };
  for (const name of names) process.on(name, onSignal);
  heard.end = () => {
    for (const name of names) process.removeListener(name, onSignal);
  };
  return heard;
}

/** The words before a command that give it enough rights; null when that needs a password. */
function rightsPrefix(installer) {
  if (!installer.asRoot || process.getuid?.() === 0) return [];
  const allowed = isOnPath('sudo') && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0;
  return allowed ? ['sudo', '-n'] : null;
}

function asRootByHand(step) {
  return process.getuid?.() === 0 ? step : `sudo ${step}`;
}

/** Runs a step without blocking, so that signals are heard. @throws Error with the last line that the step wrote */
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
 * Debian starts a system-wide Redis on port 6379 as soon as its package is installed. Millrace runs its own, so nobody
 * asked for that one. While packages are installed, a `policy-rc.d` that answers "not now" (101) keeps services off. If
 * the machine already has such a file, it is left as it is.
 * @returns a function that removes the file again
 */
function keepServicesStopped({ tool }, policyFile) {
  if (tool !== 'apt-get' || isSomebodyElses(policyFile)) return () => {};
  const prefix = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
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

function run(words) {
  spawnSync(words[0], words.slice(1), { stdio: 'ignore' });
}
