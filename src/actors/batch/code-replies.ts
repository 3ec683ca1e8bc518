/** What the sandbox has replied to the calls of one build, and what it is still to be asked. */
import type { CodeCall, CodeReply } from '../../schemas/build/code-call.ts';
import type { LookupDemand } from './lookup-source.ts';

/** Runs the code of schemas; `Sandbox` does. */
export interface CodeSandbox {
  /**
   * Replies in the order of the calls; null where there is none in time.
   * @param askers names of the outputs that ask, in the order of the calls
   */
  run(calls: readonly CodeCall[], askers: readonly string[]): Promise<readonly (CodeReply | null)[]>;
  /** Lookups that an output met before it was deferred: it begins again with all of them at once. Absent: nothing is deferred. */
  readonly lookups?: Map<string, readonly LookupDemand[]>;
}

export class CodeReplies {
  readonly #known = new Map<string, CodeReply>();
  #pending: Map<string, CodeCall> | null = null;
  /** Calls that were taken and have no reply. */
  #unanswered = 0;

  /** @param asker name of the output */
  constructor(readonly asker: string) {}

  /** True when there is no reply in time to a call that was made. */
  get isLate(): boolean {
    return this.#unanswered > 0;
  }

  /** As `BuildInput.code`. */
  code(key: string, call: () => CodeCall): CodeReply | undefined {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#pending ??= new Map();
    if (!this.#pending.has(key)) this.#pending.set(key, call());
    return undefined;
  }

  /** The calls that were met since the last time, to be made now. */
  take(): PendingCall[] {
    if (this.#pending === null) return [];
    const calls = [...this.#pending].map(([key, call]) => ({ replies: this, key, call }));
    this.#pending = null;
    this.#unanswered += calls.length;
    return calls;
  }

  know(key: string, reply: CodeReply): void {
    this.#known.set(key, reply);
    this.#unanswered -= 1;
  }
}

export interface PendingCall {
  readonly replies: CodeReplies;
  readonly key: string;
  readonly call: CodeCall;
}

/** Makes calls of any builds and has their replies known. */
export async function makeCalls(sandbox: CodeSandbox, pending: readonly PendingCall[]): Promise<void> {
  if (pending.length === 0) return;
  const replies = await sandbox.run(
    pending.map(({ call }) => call),
    pending.map(({ replies: { asker } }) => asker),
  );
  pending.forEach(({ replies: known, key }, index) => {
    const reply = replies[index] ?? null;
    if (reply !== null) known.know(key, reply);
  });
}
