/** Runs a process: starts its roles, serves their metrics, and shuts them down. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { supervisedVariable } from '../cli/bootstrap/procfile-entry.mjs';
import { handleArguments } from '../cli/help.mjs';
import { type Niceness, nicenessMax } from '../config/settings/setting.ts';
import { stopMsOf } from '../contract/front-limits.ts';
import { reasonOf } from '../lib/message-text.ts';
import { asTyped } from '../lib/typed-command.mjs';
import { releaseMemoryWhileIdle } from './idle-memory.ts';
import { collectProcessMetrics, type MetricsOrigin, serveMetrics } from './metrics-server.ts';
import { processSettings, type RunningRole } from './process-context.ts';

export type ProcessName = 'web' | 'worker' | 'jobs' | 'small';

/**
 * Runs an entry point, or prints its help. If the start fails, it prints one line and exits with 1.
 * @param roles in the order in which they stop: a front first, so that no new work arrives
 */
export function runProcess(name: ProcessName, roles: readonly (() => Promise<RunningRole>)[]): void {
  const code = handleArguments(name, process.argv.slice(2));
  if (code !== null) process.exit(code);
  main(name, roles).catch((error: unknown) => {
    console.error(asTyped(`${name}: ${reasonOf(error)}`));
    process.exit(1);
  });
}

async function main(name: ProcessName, starts: readonly (() => Promise<RunningRole>)[]): Promise<void> {
  exitWithParent();
  const settings = processSettings();
  // A process with a front keeps its priority, because users wait for its responses.
  if (name === 'worker' || name === 'jobs') lowerPriority(settings.workerNiceness);
  // Served before the roles start, because health checks may use it.
  const origins: MetricsOrigin[] = [];
  await serveMetrics(settings, origins);
  const roles = await Promise.all(
    starts.map(async (start, at) => {
      const running = await start();
      const { id, role, metrics } = running;
      // Collected for one role only, because processor time and memory are those of the whole process.
      if (at === 0) collectProcessMetrics(metrics.registry);
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
 * Stops all roles at the first SIGTERM or SIGINT, then ends the process. The process ends soon after the drain time in any
 * case, because a stop may wait for a Redis that is unavailable. Unfinished work is repeated by the process that replaces it.
 */
function stopOnSignal({ log, settings }: RunningRole['context'], roles: readonly RunningRole[]): void {
  const stopMs = stopMsOf(settings);
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
    stopRoles(roles, settings.drainMs).then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

/** The first role gets half of the time before the others stop, because its last requests need them. */
async function stopRoles([first, ...others]: readonly RunningRole[], drainMs: number): Promise<void> {
  const endsMs = performance.now() + drainMs;
  const ended = first?.stop(endsMs);
  if (others.length > 0) await Promise.race([ended, sleep(drainMs / 2)]);
  await Promise.all([ended, ...others.map((role) => role.stop(endsMs))]);
}

/**
 * Sets the niceness of this process permanently. It only matters when all cores are busy: processes with a lower niceness are
 * preferred then. Does nothing if that is not allowed.
 */
export function lowerPriority(niceness: Niceness): void {
  if (niceness === 0) return;
  const number = niceness === 'idle' ? nicenessMax : niceness;
  attempt(() => setPriority(number));
  if (process.platform !== 'linux') return;
  // With autogroups, Linux first divides the cores among sessions: sched(7).
  attempt(() => writeFileSync('/proc/self/autogroup', String(number)));
  // A process with a high niceness still finishes its time slice; one in this class yields immediately.
  if (niceness === 'idle') spawnSync('chrt', ['--idle', '--all-tasks', '--pid', '0', String(process.pid)]);
}

function attempt(change: () => void): void {
  try {
    change();
  } catch {
    // The priority is only an optimization.
  }
}

/**
 * Ends this process when its supervisor (`npm start`, `millrace worker`) has ended, even if that was killed. It sends itself
 * SIGTERM, so that there is only one way to shut down. Does nothing without a supervisor.
 */
export function exitWithParent(): void {
  if (process.env[supervisedVariable] !== '1') return;
  process.stdin.once('close', () => process.kill(process.pid, 'SIGTERM'));
  process.stdin.resume();
  // This must not keep the process alive.
  if ('unref' in process.stdin) process.stdin.unref();
}
