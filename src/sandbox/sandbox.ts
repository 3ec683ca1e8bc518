/**
 * Runs tenant code in one process per tenant (docs/design/code-schemas.md), so that the code of a tenant cannot affect builds
 * of others. The number of processes is limited, and fewer run at a time; tenants take turns by processor time.
 */
import { codeIdleMs, codeProcessesMax, codeRunningMax } from '../contract/limits.ts';
import type { CodeCall, CodeReply, ProgramKind, ProgramSet } from '../schemas/build/code-call.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import type { Job } from './job.ts';
import type { DescribeReply, FromSandbox } from './protocol.ts';
import { TenantSandbox, type TenantSandboxHost } from './tenant-sandbox.ts';
import { TenantTurns } from './tenant-turns.ts';

/** A pending call. */
export interface AskedCode {
  /** Rejects if the sandbox cannot be started. */
  readonly reply: Promise<CodeReply>;
  /** Cancels the call. Unless it is already running, the reply never settles. */
  withdraw(): void;
}

export class Sandbox {
  /** Least recently used first. */
  readonly #tenants = new Map<string, TenantSandbox>();
  readonly #idle = new Map<TenantSandbox, NodeJS.Timeout>();
  readonly #host = this.#hostOfTenants();
  #isClosed = false;

  /** @param idleMs how long an idle process of a tenant is kept */
  constructor(private readonly idleMs = codeIdleMs) {}

  /** Returns the replies in the order of the calls. @throws Error if the sandbox cannot be started */
  async run(calls: readonly CodeCall[]): Promise<CodeReply[]> {
    return await Promise.all(calls.map((call) => this.ask(call).reply));
  }

  ask(call: CodeCall): AskedCode {
    const { set, task, alias, input, spentMs } = call;
    const program = `${set.id} ${task} ${alias}`;
    const flushFirst = !this.#tenantOf(set).isSound(program);
    const text = textOfCall(call, flushFirst);
    return this.#add<CodeReply>({ set, program, text, isMessage: false, flushFirst, input, spentMs });
  }

  /** Describes a program. @throws Error if the sandbox cannot be started */
  async describe(set: ProgramSet, program: ProgramKind, alias: string): Promise<DescribeReply> {
    const text = JSON.stringify({ kind: 'describe', id: set.id, program, alias });
    const name = `${set.id} describe ${program} ${alias}`;
    const job = { set, program: name, text, isMessage: true, flushFirst: true, input: '', spentMs: 0 };
    return await this.#add<DescribeReply>(job).reply;
  }

  close(): void {
    this.#isClosed = true;
    for (const timer of this.#idle.values()) clearTimeout(timer);
    for (const tenant of this.#tenants.values()) tenant.close();
  }

  #hostOfTenants(): TenantSandboxHost {
    const isCrowded = () =>
      [...this.#tenants.values()].filter(({ isIdle }) => !isIdle).length > codeProcessesMax;
    return {
      turns: new TenantTurns(codeRunningMax),
      breaker: new CircuitBreaker(),
      get isCrowded() {
        return isCrowded();
      },
      makeRoom: () => this.#makeRoom(),
      onIdle: (tenant) => this.#onIdle(tenant),
    };
  }

  #tenantOf({ owner }: ProgramSet): TenantSandbox {
    const tenant = this.#tenants.get(owner) ?? new TenantSandbox(owner, this.#host);
    this.#tenants.delete(owner);
    this.#tenants.set(owner, tenant);
    return tenant;
  }

  #add<Reply extends FromSandbox>(
    asked: Omit<Job, 'done' | 'failed' | 'tries'>,
  ): { reply: Promise<Reply>; withdraw(): void } {
    if (this.#isClosed) return { reply: Promise.reject(new Error('the sandbox is closed')), withdraw() {} };
    const tenant = this.#tenantOf(asked.set);
    clearTimeout(this.#idle.get(tenant));
    this.#idle.delete(tenant);
    let withdraw = () => {};
    const reply = new Promise<Reply>((resolve, reject) => {
      const done = (given: FromSandbox) => resolve(given as Reply);
      const job: Job = { ...asked, done, failed: reject, tries: 0 };
      withdraw = () => tenant.withdraw(job);
      tenant.add(job);
    });
    return { reply, withdraw };
  }

  /**
   * Ends processes until there is room for one more, idle ones first. Since fewer processes may run than exist, one can always
   * end.
   */
  #makeRoom(): void {
    const alive = [...this.#tenants.values()].filter(({ hasProcess }) => hasProcess);
    const mayEnd = alive.filter(({ hasTurn }) => !hasTurn);
    const inOrder = [...mayEnd.filter(({ isIdle }) => isIdle), ...mayEnd.filter(({ isIdle }) => !isIdle)];
    const surplus = Math.max(0, alive.length + 1 - codeProcessesMax);
    for (const tenant of inOrder.slice(0, surplus)) tenant.endProcess();
  }

  #onIdle(tenant: TenantSandbox): void {
    if (this.#isClosed) return;
    clearTimeout(this.#idle.get(tenant));
    const timer = setTimeout(() => {
      this.#idle.delete(tenant);
      if (tenant.isIdle) tenant.endProcess();
    }, this.idleMs);
    timer.unref();
    this.#idle.set(tenant, timer);
  }
}

function textOfCall({ task, alias, input, answers }: CodeCall, flushFirst: boolean): string {
  const texts = [...answers].map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  const flushMember = flushFirst ? '"flushFirst":true,' : '';
  return `{"task":"${task}","alias":${JSON.stringify(alias)},${flushMember}"input":${input},"answers":{${texts.join(',')}}}`;
}
