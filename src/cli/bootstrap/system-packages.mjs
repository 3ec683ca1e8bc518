/** Installs programs that a command needs from the packages of the system, and leaves no service of theirs running. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { BootstrapStop } from './stop.mjs';

/** A person has stopped the installation. */
class Stopped extends Error {}

const policyText = '#!/bin/sh\n# Millrace: no service starts while packages are being installed.\nexit 101\n';

/**
 * How each system installs a package. The steps are run in order. `asRoot` says whether they need the rights of root.
 * `NAME=VALUE` words precede a command as in a shell.
 */
const installers = [
  {
    tool: 'apt-get',
    asRoot: true,
    steps: (name) => ['apt-get update -qq', `DEBIAN_FRONTEND=noninteractive apt-get install -y -qq ${name}`],
  },
  { tool: 'apk', asRoot: true, steps: (name) => [`apk add --no-progress ${name}`] },
  { tool: 'dnf', asRoot: true, steps: (name) => [`dnf install -y -q ${name}`] },
  { tool: 'brew', asRoot: false, steps: (name) => [`brew install ${name}`] },
];

/** Whether packages can be installed here at all. */
export function hasSystemPackages() {
  return systemInstaller() !== undefined;
}

function systemInstaller() {
  return installers.find(({ tool }) => isOnPath(tool));
}

export function isOnPath(tool) {
  return (process.env.PATH ?? '')
    .split(path.delimiter)
    .some((folder) => folder !== '' && existsSync(path.join(folder, tool)));
}

/**
 * Installs a package of this system.
 * @param {string} what name of the program, for people
 * @param {string} missing what is wrong without it, for people
 * @param {Record<string, string>} packageNames its name for each tool; `others` where the tool has no entry
 * @param {string} policyFile file that Debian runs to ask whether a service may start
 * @throws BootstrapStop with the commands to type, when it cannot be installed. There must be `hasSystemPackages`
 */
export async function installPackage({ what, missing, packageNames, policyFile = '/usr/sbin/policy-rc.d' }) {
  const installer = systemInstaller();
  const prefix = rightsPrefix(installer);
  const steps = installer.steps(packageNames[installer.tool] ?? packageNames.others);
  const commands = steps.map((step) => (installer.asRoot ? asRootByHand(step) : step));
  if (prefix === null) {
    throw new BootstrapStop(
      `${missing}, and installing it needs root. Run this, then try again: ${commands.join(' && ')}`,
    );
  }
  console.error(`${missing}: installing it from the packages of this system (${installer.tool}) …`);
  const interrupt = heedStops();
  const letServicesStart = keepServicesStopped(installer, policyFile);
  try {
    for (const step of steps) {
      await runStep(prefix, step);
      if (interrupt.signal !== null) throw new Stopped();
    }
  } catch (failure) {
    throw new BootstrapStop(
      `Installing ${what} ${failure instanceof Stopped ? 'was stopped' : `failed (${failure.message})`}. ` +
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
