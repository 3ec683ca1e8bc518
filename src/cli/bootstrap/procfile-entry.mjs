/** Reads the entries of the Procfile as Node commands, and runs them. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { fittedWords, memoryBytes } from './memory-fit.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * The words after `node` of an entry of the Procfile or of workers/Procfile.small, adapted to the available memory.
 * @param {string} name
 * @returns {string[] | null} null if there is no such entry
 */
export function procfileWords(name) {
  const lines = ['Procfile', 'workers/Procfile.small'].flatMap((file) =>
    readFileSync(root + file, 'utf8').split('\n'),
  );
  const start = `${name}: node `;
  const line = lines.find((one) => one.startsWith(start));
  return line === undefined ? null : fittedWords(line.slice(start.length).split(' '), memoryBytes());
}

/**
 * Runs an entry of the Procfile in the working directory, with its options for Node. Passes on signals and the exit code. The
 * child ends when this process has ended, even if it was killed.
 * @param {string} name
 */
export function runProcfileEntry(name) {
  const child = spawn(process.execPath, (procfileWords(name) ?? []).map(wholePath), {
    env: { ...process.env, [supervisedVariable]: '1' },
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (signal === null ? 0 : os.constants.signals[signal]);
  });
}

/** @param {string} word */
function wholePath(word) {
  return /^(?:\.\/src|workers)\//.test(word) ? root + word.replace(/^\.\//, '') : word;
}

/** Set to `1` for processes with a supervisor. Their standard input is open while it lives, so that they can end with it. */
export const supervisedVariable = 'MILLRACE_SUPERVISED';
