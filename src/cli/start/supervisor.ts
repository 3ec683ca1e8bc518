import { existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { defaultFrontLimits, stopMsOf } from '../../contract/front-limits.ts';
import { asTyped } from '../../lib/typed-command.mjs';
import { supervisedVariable } from '../bootstrap/procfile-entry.mjs';
import { CommandStop } from '../terminal/command-line.ts';
import { hasColours, type LineTarget, type LogText } from '../terminal/log-text.ts';
import { Child, type ChildOptions } from './child.ts';

/** An entry of a Procfile: `web: node --import ./src/typescript/loader.mjs workers/web.ts`. */
export interface ProcfileEntry {
  readonly name: string;
  readonly program: string;
  readonly words: readonly string[];
}

const entryPattern = /^([A-Za-z0-9_-]+):\s*(.+)$/;
const wordPattern = /"([^"]*)"|'([^']*)'|(\S+)/g;

/**
 * The entries of a Procfile, in order. Words that name a file in the Procfile's folder become absolute paths, because the
 * working directory can be another one. Commands are split into words, with support for quotes, and run without a shell, which
 * would not pass on signals.
 * @throws CommandStop with the line that is not `name: command`
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
 * Minimum time for each role to stop; a role may take longer if time is left in total. Fronts are stopped first, so that no new
 * work arrives, and Redis last, so that all others can still store their work.
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

/** Runs the processes of an `npm start`. */
export class Supervisor {
  readonly #children = new Map<string, Child[]>();

  /** @param stopMs total time for stopping all of them */
  constructor(
    private readonly output: Output,
    private readonly stopMs = stopMsOf(defaultFrontLimits),
  ) {}

  /**
   * Starts `count` processes of a Procfile entry, named `web.1`, `web.2` …
   * @param own called for each process: its additional variables
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

  /** Writes one or more lines in the name of the supervisor. */
  say(text: string): void {
    this.output.line('start', text);
  }

  /**
   * Starts one process, which `stop` stops.
   * @param options `lastLines`: its last output, which is shown when it ends unexpectedly
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
        // Its last output can arrive after its end.
        setTimeout(() => this.say(`The last lines of ${name}:\n${lastLines.join('\n')}`), lastLinesMs);
      },
    });
    this.#children.set(role, [...(this.#children.get(role) ?? []), child]);
    child.start();
    return child;
  }

  /** Stops all processes in order: others, fronts, workers, jobs, Redis. */
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

  /** Kills all processes. */
  kill(): void {
    for (const child of [...this.#children.values()].flat()) child.kill();
  }

  async #stopRoles(roles: readonly string[], graceMs: number): Promise<void> {
    const children = roles.flatMap((role) => this.#children.get(role) ?? []);
    await Promise.all(children.map((child) => child.stop(graceMs)));
  }
}

const colours = [36, 33, 32, 35, 34, 31];

/** Writes the lines of many processes to one terminal or file, each with the name of its process. */
export class Output {
  readonly #colourByRole = new Map<string, number>();
  #nameWidth = 'worker.1'.length;
  readonly #hasColours: boolean;

  /** @param logText from `logTextFor`; null to pass on lines unchanged */
  constructor(
    private readonly target: LineTarget,
    private readonly logText: LogText | null = null,
  ) {
    this.#hasColours = hasColours(target);
  }

  /** Passes on the output of a process, line by line. */
  follow(name: string, lines: Readable): void {
    createInterface({ input: lines, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
      this.line(name, this.logText === null ? line : this.logText(line));
    });
  }

  /** @param text one or more lines; each gets the prefix */
  line(name: string, text: string): void {
    const prefix = this.#prefix(name);
    this.target.write(
      asTyped(text)
        .split('\n')
        .map((line) => `${prefix} ${line}\n`)
        .join(''),
    );
  }

  #prefix(name: string): string {
    this.#nameWidth = Math.max(this.#nameWidth, name.length);
    const prefix = `${name.padEnd(this.#nameWidth)} |`;
    return this.#hasColours ? `\u001b[${this.#colour(name)}m${prefix}\u001b[0m` : prefix;
  }

  #colour(name: string): number {
    const [role = name] = name.split('.');
    const known = this.#colourByRole.get(role);
    if (known !== undefined) return known;
    const colour = colours[this.#colourByRole.size % colours.length] ?? 0;
    this.#colourByRole.set(role, colour);
    return colour;
  }
}
