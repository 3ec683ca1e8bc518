/** Checked after every call for a lease: no worker takes a partition that another holds, and a successful reply means ownership. */
import assert from 'node:assert/strict';
import { keys } from '../../../../src/store/keys.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { Reply } from '../redis/reply.ts';

interface LeaseState {
  readonly worker: string;
  readonly epoch: string;
  readonly untilMs: number;
}

export class LeaseCheck {
  readonly #known = new Map<string, LeaseState>();

  constructor(
    private readonly keyspace: Keyspace,
    private readonly nowMs: () => number,
  ) {}

  /** To be called if the owner of a partition was changed or removed without a script. */
  forget(tag: string): void {
    this.#known.delete(tag);
  }

  /**
   * @param words of `scripts/partitions/lease.lua`
   * @throws AssertionError
   */
  afterLease(tag: string, words: readonly string[], reply: Reply): void {
    const [action, worker = '', leaseMs, epoch] = words;
    const nowMs = Math.floor(this.nowMs());
    const before = this.#known.get(tag);
    const now = this.#state(tag);
    this.#known.set(tag, now);
    const untilMs = nowMs + Number(leaseMs);
    if (action === 'take') {
      const isTaken = Array.isArray(reply) && reply[0] !== 0;
      const isHeld = before !== undefined && before.worker !== '' && before.untilMs > nowMs;
      assert.ok(
        !isTaken || !isHeld || before.worker === worker,
        `${tag} is taken while ${before?.worker} holds it`,
      );
      if (!isTaken) return;
      const taken = isHeld ? before : { worker, epoch: String(reply[0]), untilMs };
      assert.deepEqual([now, String(reply[0])], [taken, taken.epoch], `lease of ${tag} that ${worker} takes`);
      return;
    }
    const isOurs = before?.worker === worker && before.epoch === epoch;
    if (before !== undefined)
      assert.equal(reply, isOurs ? 1 : 0, `reply to ${worker} about its lease of ${tag}`);
    if (reply !== 1) return;
    const expected = action === 'renew' ? { worker, untilMs } : { worker: '', untilMs: 0 };
    assert.deepEqual(
      { worker: now.worker, untilMs: now.untilMs },
      expected,
      `lease of ${tag} after ${action}`,
    );
  }

  #state(tag: string): LeaseState {
    const owner = this.keyspace.hash(keys.owner(tag));
    return {
      worker: owner.get('worker') ?? '',
      epoch: owner.get('epoch') ?? '',
      untilMs: Number(owner.get('leaseUntilMs') ?? 0),
    };
  }
}
