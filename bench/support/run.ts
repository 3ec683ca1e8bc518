/**
 * Runs one benchmark: parses its arguments, creates its folder, limits its time, prints its results and writes them to
 * `bench/`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  CommandStop,
  interruptedCode,
  readArguments,
  stopSignals,
} from '../../src/cli/terminal/command-line.ts';
import type { Bench, BenchContext, BenchResult } from './bench.ts';
import { dataNote } from './data/sets.ts';
import { printReport, writeReport } from './report/section.ts';

const minutesMaxDefault = 8;
/** Time reserved for the end of a run, to stop everything and write charts. */
const reserveMs = 15_000;
const fullRounds = 5;

/**
 * Runs a benchmark and ends the process. The exit code is 0 if it completed, whatever the figures; 1 if contenders disagree or
 * something failed; 130 if stopped.
 */
export async function runBench(bench: Bench): Promise<void> {
  const isQuick = readArguments('bench').values.quick === true;
  const startedMs = performance.now();
  const { minutesMax = minutesMaxDefault } = bench;
  const runMsMax = minutesMax * 60_000;
  const stop = new AbortController();
  const cleanUps: (() => Promise<void> | void)[] = [];
  let folder: string | null = null;
  const say = (text: string) => console.error(`[${bench.name}] ${text}`);
  const context: BenchContext = {
    quick: isQuick,
    rounds: isQuick ? 1 : fullRounds,
    get folder() {
      catchSignals();
      folder ??= mkdtempSync(path.join(os.tmpdir(), 'millrace-bench-'));
      return folder;
    },
    signal: stop.signal,
    say,
    timeLeftMs: () => runMsMax - reserveMs - (performance.now() - startedMs),
    onEnd: (cleanUp) => {
      catchSignals();
      cleanUps.push(cleanUp);
    },
  };
  const interrupted = new Promise<never>((_, reject) => {
    stop.signal.addEventListener('abort', () => {
      reject(stop.signal.reason);
      // Ctrl-C also reaches child processes, whose end is now an error that nobody waits for.
      process.on('uncaughtException', () => {});
    });
  });
  // Before there is something to clean up, signals end the process, even in the middle of a long computation.
  let isCatching = false;
  const catchSignals = () => {
    if (isCatching) return;
    isCatching = true;
    const { signal } = stopSignals(() => process.exit(interruptedCode), new Interrupted('stopped'));
    signal.addEventListener('abort', () => stop.abort(signal.reason));
  };
  const tooLong = new CommandStop(`${bench.name} took more than ${minutesMax} minutes`);
  setTimeout(() => stop.abort(tooLong), runMsMax).unref();
  try {
    const result = withDataNote(await Promise.race([bench.run(context), interrupted]));
    printReport(bench, result);
    if (!isQuick) writeReport(bench, result);
    say(`done in ${Math.round((performance.now() - startedMs) / 1000)} s`);
    process.exitCode = 0;
  } catch (error) {
    process.exitCode = error instanceof Interrupted ? interruptedCode : 1;
    if (!(error instanceof Interrupted)) console.error(error instanceof CommandStop ? error.message : error);
  } finally {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  }
  // Aborted work may still hold sockets. All our processes have ended.
  process.exit();
}

function withDataNote(result: BenchResult): BenchResult {
  const note = dataNote();
  return note === null ? result : { ...result, notes: [note, ...(result.notes ?? [])] };
}

class Interrupted extends Error {}
