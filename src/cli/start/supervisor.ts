import { defaultFrontLimits, stopMsOf } from '../../contract/front-limits.ts';
import { Child, type ChildOptions } from './child.ts';
import type { Output } from './output.ts';
import type { ProcfileEntry } from './procfile.ts';
import { supervisedVariable } from './supervised.ts';

/**
 * How long each kind of process may take to end at least; it may take longer where all of them have time left. Fronts end
 * first, so that no new work comes in. Redis ends last, so that all others can still store what they did.
 */
const stopOrder: readonly { readonly role: string; readonly graceMs: number }[] = [
  { role: 'web', graceMs: 3_000 },
  { role: 'worker', graceMs: 4_000 },
  { role: 'jobs', graceMs: 1_000 },
  { role: 'redis', graceMs: 1_500 },
];
const otherGraceMs = 500;

/** The processes of one `npm start`. */
export class Supervisor {
  readonly #children = new Map<string, Child[]>();

  /** @param stopMs how long they may take to end, all together */
  constructor(
    private readonly output: Output,
    private readonly stopMs = stopMsOf(defaultFrontLimits),
  ) {}

  /** Starts `count` processes of a Procfile entry, named `web.1`, `web.2` … */
  startEntry(entry: ProcfileEntry, count: number, env: NodeJS.ProcessEnv): void {
    for (let number = 1; number <= count; number += 1) {
      const name = `${entry.name}.${number}`;
      this.add(entry.name, {
        command: { ...entry, name, env: { ...env, [supervisedVariable]: '1' } },
        endBy: 'signal',
        follow: (lines) => this.output.follow(name, lines),
      }).keepRunning();
    }
  }

  /** Starts one process. `stop` ends it at the latest. */
  add(role: string, options: Omit<ChildOptions, 'onUnexpectedEnd'>): Child {
    const { name } = options.command;
    const child = new Child({
      ...options,
      onUnexpectedEnd: (reason, restartMs) =>
        this.output.line('start', `${name} ended (${reason}); starting it again in ${restartMs / 1000} s`),
    });
    this.#children.set(role, [...(this.#children.get(role) ?? []), child]);
    child.start();
    return child;
  }

  /** Ends everything in order: anything else, fronts, workers, jobs, the store. */
  async stop(): Promise<void> {
    const endsMs = performance.now() + this.stopMs;
    const known = new Set(stopOrder.map(({ role }) => role));
    const others = [...this.#children.keys()].filter((role) => !known.has(role));
    await this.#stopRoles(others, otherGraceMs);
    let laterMs = stopOrder.reduce((sum, { graceMs }) => sum + graceMs, 0);
    for (const { role, graceMs } of stopOrder) {
      laterMs -= graceMs;
      await this.#stopRoles([role], Math.max(graceMs, endsMs - performance.now() - laterMs));
    }
  }

  /** Ends everything at once. */
  kill(): void {
    for (const child of [...this.#children.values()].flat()) child.kill();
  }

  async #stopRoles(roles: readonly string[], graceMs: number): Promise<void> {
    const children = roles.flatMap((role) => this.#children.get(role) ?? []);
    await Promise.all(children.map((child) => child.stop(graceMs)));
  }
}
