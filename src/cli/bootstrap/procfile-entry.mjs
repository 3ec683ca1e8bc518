import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs one line of the Procfile in the working directory, with the options for Node that are there. Signals are passed on,
 * and the exit code is the one of the process.
 * @param {string} name
 */
export function runProcfileEntry(name) {
  const line = readFileSync(`${root}Procfile`, 'utf8')
    .split('\n')
    .find((one) => one.startsWith(`${name}: node `));
  const words = line?.slice(`${name}: node `.length).split(' ') ?? [];
  const child = spawn(process.execPath, words.map(wholePath), { stdio: 'inherit' });
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (signal === null ? 0 : os.constants.signals[signal]);
  });
}

/** @param {string} word */
function wholePath(word) {
  return /^(?:\.\/src|workers)\//.test(word) ? root + word.replace(/^\.\//, '') : word;
}
