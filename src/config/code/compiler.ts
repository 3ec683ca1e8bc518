/**
 * Compiles the JavaScript and TypeScript of tenants in a separate process (docs/design/code-schemas.md), one file at a time,
 * with tenants taking turns. The process stops when it is idle. It is killed if a file takes too much time or memory, which is
 * reported as an error in the file.
 */
import { ProblemError, problems } from '../../contract/errors.ts';
import { compilerIdleMs, compilerMebibytesMax, compilesWaitingMax } from '../../contract/limits.ts';
import { Turns } from '../../lib/turns.ts';
import { type CompileEnd, CompilerProcess } from './compiler-process.ts';
import type { CompiledFile, ReadModule } from './compiler-protocol.ts';

/** A process may exit for reasons unrelated to the file, such as a machine without free memory. */
const triesMax = 2;

export interface CompileRequest {
  /** Path of the schema, relative to CONFIG_DIR. */
  readonly file: string;
  readonly tenant: string;
  /** Reads the file and its imports. */
  readonly read: ReadModule;
  /** Remaining processor time, and the budget of its tenant for all files. */
  readonly cpuMs: { readonly left: number; readonly max: number };
}

export class Compiler {
  readonly #turns = new Turns({
    atOnceMax: 1,
    ofOwnerMax: 1,
    waitingMax: compilesWaitingMax,
    refusal: () => new ProblemError(problems.unavailable),
  });
  #process: CompilerProcess | null = null;
  #idle: NodeJS.Timeout | null = null;

  /** @param idleMs how long an idle process is kept */
  constructor(private readonly idleMs = compilerIdleMs) {}

  /**
   * @returns also the processor time that it took, in ms
   * @throws ProblemError if too many files of a tenant wait
   */
  async compile(request: CompileRequest): Promise<CompiledFile & { cpuMs: number }> {
    return await this.#turns.run(request.tenant, async () => {
      if (this.#idle !== null) clearTimeout(this.#idle);
      try {
        return await this.#inTurn(request);
      } finally {
        this.#idle = setTimeout(() => this.#process?.end(), this.idleMs).unref();
      }
    });
  }

  async #inTurn({
    file,
    read,
    cpuMs: { left, max },
  }: CompileRequest): Promise<CompiledFile & { cpuMs: number }> {
    for (let tries = 1; ; tries += 1) {
      if (this.#process?.isAlive !== true) this.#process = new CompilerProcess();
      const { cpuMs, ...end } = await this.#process.compile(file, read, left);
      if (end.kind === 'compiled') return { ...end.compiled, cpuMs };
      if (end.kind === 'gone' && tries < triesMax) continue;
      return { draft: null, issues: [{ file, path: '$', ...failureText(end, max) }], cpuMs };
    }
  }
}

function failureText(
  end: Exclude<CompileEnd, { kind: 'compiled' }>,
  cpuMsMax: number,
): { message: string; advice: string } {
  const advice = 'Make the file, or what it imports, smaller or simpler.';
  switch (end.kind) {
    case 'time':
      return { message: `compiling took more than ${cpuMsMax / 1000} s of processor time`, advice };
    case 'memory':
      return { message: `compiling takes more than ${compilerMebibytesMax} MB of memory`, advice };
    case 'gone':
      return { message: 'the compiler ended while it read the file', advice };
  }
}
