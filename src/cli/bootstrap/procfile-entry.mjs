/** The lines of the Procfile as commands of Node, and how a process of ours runs one of them. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { fittedWords, memoryBytes } from './memory-fit.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * The words after `node` of one line of the Procfile or of workers/Procfile.small, fitted to the memory that is there.
 * @param {string} name
 * @returns {string[] | null} null: there is no such line
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
 * Runs one line of the Procfile in the working directory, with the options for Node that are there. Signals are passed on,
 * and the exit code is the one of the process. It ends when this process is gone, even if that was killed.
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

/**
 * Set to `1` for processes that another one of ours runs. Their standard input stays open for as long as that one lives, so
 * that they can end with it.
 */
export const supervisedVariable = 'MILLRACE_SUPERVISED';
