/** Runs a process: its roles, their metrics, and their orderly end. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { supervisedVariable } from '../cli/bootstrap/procfile-entry.mjs';
import { answerWords } from '../cli/help.mjs';
import { type Niceness, nicenessMax } from '../config/settings/setting.ts';
import { stopMsOf } from '../contract/front-limits.ts';
import { asTyped } from '../lib/typed-command.mjs';
import { releaseMemoryWhileIdle } from './idle-memory.ts';
import { collectProcessFigures, type MetricsOrigin, serveMetrics } from './metrics-server.ts';
import { processSettings, type RunningRole } from './process-context.ts';

export type ProcessName = 'web' | 'worker' | 'jobs' | 'small';

/**
 * Runs an entry point, unless only its help is asked for. A failure to start is one line and exit code 1.
 * @param roles in the order in which they end: a front first, so that no new work comes in
 */
export function runProcess(name: ProcessName, roles: readonly (() => Promise<RunningRole>)[]): void {
  const code = answerWords(name, process.argv.slice(2));
  if (code !== null) process.exit(code);
  main(name, roles).catch((error: unknown) => {
    console.error(asTyped(`${name}: ${error instanceof Error ? error.message : String(error)}`));
    process.exit(1);
  });
}

async function main(name: ProcessName, starts: readonly (() => Promise<RunningRole>)[]): Promise<void> {
  exitWithParent();
  const settings = processSettings();
  // Fronts answer people, so a process with a front keeps its priority.
  if (name === 'worker' || name === 'jobs') lowerPriority(settings.workerNiceness);
  // Health checks ask there, also while a role still loads.
  const origins: MetricsOrigin[] = [];
  await serveMetrics(settings, origins);
  const roles = await Promise.all(
    starts.map(async (start, at) => {
      const running = await start();
      const { id, role, metrics } = running;
      // Processor time and memory belong to the process. Each further role would count them again.
      if (at === 0) collectProcessFigures(metrics.registry);
      origins.push({ id, role, text: () => metrics.text() });
      return running;
    }),
  );
  const [first] = roles;
  if (first === undefined) return;
  stopOnSignal(first.context, roles);
  releaseMemoryWhileIdle();
}

/**
 * Stops all roles once at the first SIGTERM or SIGINT, then ends the process. The process ends a little after the time for
 * draining in any case, because a stop may wait for a Redis that is gone. The process that takes its place does again
 * what was left undone.
 */
function stopOnSignal({ log, settings }: RunningRole['context'], roles: readonly RunningRole[]): void {
  const { frontLimits } = settings;
  const stopMs = stopMsOf(frontLimits);
  let stopping = false;
  const onSignal = () => {
    if (stopping) return;
    stopping = true;
    log.info({}, 'stopping');
    for (const { context } of roles) context.outages.close();
    setTimeout(() => {
      log.warn({ afterMs: stopMs }, 'some work was not finished in time; the next process does it again');
      process.exit(1);
    }, stopMs).unref();
    stopRoles(roles, frontLimits.drainMs).then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

/** The first role gets half of the time alone, because its last requests need the others. */
async function stopRoles([first, ...others]: readonly RunningRole[], drainMs: number): Promise<void> {
  const endsMs = performance.now() + drainMs;
  const ended = first?.stop(endsMs);
  if (others.length > 0) await Promise.race([ended, sleep(drainMs / 2)]);
  await Promise.all([ended, ...others.map((role) => role.stop(endsMs))]);
}

/**
 * Gives this process a niceness for good. When all cores are busy, processes with a lower one go first. While a core is
 * idle, nothing changes. Does nothing where that is not allowed.
 */
export function lowerPriority(niceness: Niceness): void {
  if (niceness === 0) return;
  const number = niceness === 'idle' ? nicenessMax : niceness;
  attempt(() => setPriority(number));
  if (process.platform !== 'linux') return;
  // A Linux that groups processes by session first divides the cores among the groups: sched(7), autogroup.
  attempt(() => writeFileSync('/proc/self/autogroup', String(number)));
  // A nice process still ends its slice of time before another one begins. A process of this class yields immediately.
  if (niceness === 'idle') spawnSync('chrt', ['--idle', '--all-tasks', '--pid', '0', String(process.pid)]);
}

function attempt(change: () => void): void {
  try {
    change();
  } catch {
    // The order among processes only helps readers, so work continues without it.
  }
}

/**
 * Ends this process when the `npm start` or `millrace worker` that runs it is gone, even if that was killed. The
 * process sends itself SIGTERM, so there is one way to drain. Without a supervisor nothing happens.
 */
export function exitWithParent(): void {
  if (process.env[supervisedVariable] !== '1') return;
  process.stdin.once('close', () => process.kill(process.pid, 'SIGTERM'));
  process.stdin.resume();
  // The watch must not keep a process alive that has nothing left to do.
  if ('unref' in process.stdin) process.stdin.unref();
}
