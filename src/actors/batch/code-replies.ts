/** The replies of the sandbox to the calls of one build, and the calls still to be made. */
import type { CodeCall, CodeReply } from '../../schemas/build/code-call.ts';
import type { LookupDemand } from './lookup-source.ts';

/** Runs the code of schemas, as `Sandbox` does. */
export interface CodeSandbox {
  /**
   * Replies in the order of the calls; null for a call that took too long.
   * @param askers names of the outputs that make the calls, in the same order
   */
  run(calls: readonly CodeCall[], askers: readonly string[]): Promise<readonly (CodeReply | null)[]>;
  /** Lookups of an output before it was deferred. Its next build starts with all of them. Absent if outputs are never deferred. */
  readonly lookups?: Map<string, readonly LookupDemand[]>;
}

export class CodeReplies {
  readonly #known = new Map<string, CodeReply>();
  #pending: Map<string, CodeCall> | null = null;
  /** Calls taken by `take` that have no reply. */
  #unanswered = 0;

  /** @param asker name of the output */
  constructor(readonly asker: string) {}

  /** True if a call got no reply in time. */
  get isLate(): boolean {
    return this.#unanswered > 0;
  }

  /** Implements `BuildInput.code`. */
  code(key: string, call: () => CodeCall): CodeReply | undefined {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#pending ??= new Map();
    if (!this.#pending.has(key)) this.#pending.set(key, call());
    return undefined;
  }

  /** Takes the calls collected since the last time. */
  take(): PendingCall[] {
    if (this.#pending === null) return [];
    const calls = [...this.#pending].map(([key, call]) => ({ replies: this, key, call }));
    this.#pending = null;
    this.#unanswered += calls.length;
    return calls;
  }

  add(key: string, reply: CodeReply): void {
    this.#known.set(key, reply);
    this.#unanswered -= 1;
  }
}

export interface PendingCall {
  readonly replies: CodeReplies;
  readonly key: string;
  readonly call: CodeCall;
}

/** Makes the calls of several builds and adds the replies to each. */
export async function makeCalls(sandbox: CodeSandbox, pending: readonly PendingCall[]): Promise<void> {
  if (pending.length === 0) return;
  const replies = await sandbox.run(
    pending.map(({ call }) => call),
    pending.map(({ replies: { asker } }) => asker),
  );
  pending.forEach(({ replies: known, key }, index) => {
    const reply = replies[index] ?? null;
    if (reply !== null) known.add(key, reply);
  });
}
