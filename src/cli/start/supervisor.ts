import { existsSync } from 'node:fs';
import path from 'node:path';
import { defaultFrontLimits, stopMsOf } from '../../contract/front-limits.ts';
import { supervisedVariable } from '../bootstrap/procfile-entry.mjs';
import { CommandStop } from '../terminal/command-line.ts';
import { Child, type ChildOptions } from './child.ts';
import type { Output } from './process-output.ts';

/** One line of a Procfile: `web: node --import ./src/typescript/loader.mjs workers/web.ts`. */
export interface ProcfileEntry {
  readonly name: string;
  readonly program: string;
  readonly words: readonly string[];
}

const entryPattern = /^([A-Za-z0-9_-]+):\s*(.+)$/;
const wordPattern = /"([^"]*)"|'([^']*)'|(\S+)/g;

/**
 * The entries of a Procfile, in its order. Words that name a file of the Procfile's folder become its whole path, since the
 * working directory is that of the process that starts them. Commands are split into words, with respect to quotes. They run without a
 * shell, so signals and exit codes need not pass through one.
 * @throws CommandStop naming the line that is not `name: command`
 */
export function parseProcfile(text: string, folder: string): ProcfileEntry[] {
  return text.split('\n').flatMap((line, index) => {
    const content = line.trim();
    if (content === '' || content.startsWith('#')) return [];
    const [, name, command] = entryPattern.exec(content) ?? [];
    const [program, ...words] = [...(command ?? '').matchAll(wordPattern)].map(
      (match) => match[1] ?? match[2] ?? match[3] ?? '',
    );
    if (name === undefined || program === undefined) {
      throw new CommandStop(`Procfile, line ${index + 1} must be 'name: command', not '${content}'.`);
    }
    return [{ name, program, words: words.map((word) => wholePath(word, folder)) }];
  });
}

function wholePath(word: string, folder: string): string {
  const file = path.join(folder, word);
  return word.includes('/') && existsSync(file) ? file : word;
}

/**
 * How long each kind of process may take to end at least; it may take longer where all of them have time left. Fronts end
 * first, so that no new work comes in. Redis ends last, so that all others can still store what they did.
 */
const stopOrder: readonly { readonly role: string; readonly graceMs: number }[] = [
  { role: 'web', graceMs: 3_000 },
  { role: 'small', graceMs: 7_000 },
  { role: 'worker', graceMs: 4_000 },
  { role: 'jobs', graceMs: 1_000 },
  { role: 'redis', graceMs: 1_500 },
];
const otherGraceMs = 500;
const lastLinesMs = 100;

/** The processes of one `npm start`. */
export class Supervisor {
  readonly #children = new Map<string, Child[]>();

  /** @param stopMs how long they may take to end, all together */
  constructor(
    private readonly output: Output,
    private readonly stopMs = stopMsOf(defaultFrontLimits),
  ) {}

  /**
   * Starts `count` processes of a Procfile entry, named `web.1`, `web.2` …
   * @param own called for each of them: variables of its own
   */
  startEntry(
    entry: ProcfileEntry,
    count: number,
    env: NodeJS.ProcessEnv,
    own: () => NodeJS.ProcessEnv = () => ({}),
  ): void {
    for (let number = 1; number <= count; number += 1) {
      const name = `${entry.name}.${number}`;
      this.add(entry.name, {
        command: { ...entry, name, env: { ...env, ...own(), [supervisedVariable]: '1' } },
        endBy: 'signal',
        follow: (lines) => this.output.follow(name, lines),
      }).keepRunning();
    }
  }

  /** Writes a line, or several, in the name of the supervisor. */
  say(text: string): void {
    this.output.line('start', text);
  }

  /**
   * Starts one process. `stop` ends it at the latest.
   * @param options `lastLines`: what it wrote last, which is shown when it ends by itself
   */
  add(
    role: string,
    options: Omit<ChildOptions, 'onUnexpectedEnd'> & { readonly lastLines?: readonly string[] },
  ): Child {
    const { command, lastLines } = options;
    const { name } = command;
    const child = new Child({
      ...options,
      onUnexpectedEnd: (reason, restartMs) => {
        this.say(`${name} ended (${reason}); starting it again in ${restartMs / 1000} s`);
        if (lastLines === undefined) return;
        // What it wrote last can arrive after its end.
        setTimeout(() => this.say(`The last lines of ${name}:\n${lastLines.join('\n')}`), lastLinesMs);
      },
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
    const roles = stopOrder.filter(({ role }) => this.#children.has(role));
    let laterMs = roles.reduce((sum, { graceMs }) => sum + graceMs, 0);
    for (const { role, graceMs } of roles) {
      laterMs -= graceMs;
      await this.#stopRoles([role], Math.max(graceMs, endsMs - performance.now() - laterMs));
    }
  }

  /** Ends everything immediately. */
  kill(): void {
    for (const child of [...this.#children.values()].flat()) child.kill();
  }

  async #stopRoles(roles: readonly string[], graceMs: number): Promise<void> {
    const children = roles.flatMap((role) => this.#children.get(role) ?? []);
    await Promise.all(children.map((child) => child.stop(graceMs)));
  }
}
