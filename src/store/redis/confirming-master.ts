/** Confirms writes on one master, on a separate connection, because `WAIT` blocks all later commands. */
import type { Redis } from 'ioredis';
import { keys } from '../keys.ts';
import type { Masters } from './masters.ts';
import { StoreUnavailableError } from './redis-errors.ts';
import { Script } from './script.ts';

const confirmScript = new Script<Buffer>('redis/confirm', 1, ['history']);
/** How long to assume that a master has no replica. */
const loneMs = 1_000;
/** A node that does not reply this long after the wait for replicas counts as dead. */
const roundReserveMs = 1_000;

/** Too few replicas confirmed in time, although one could be promoted. */
export class NoReplicaError extends StoreUnavailableError {
  /** Replicas that did not confirm. */
  readonly missing: number;

  constructor(confirmations: number, replicas: number, waitMs: number) {
    super(`${confirmations} of ${replicas} replicas confirmed within ${waitMs} ms`);
    this.missing = replicas - confirmations;
  }
}

interface Waiting {
  readonly tag: string;
  readonly resolve: (history: string) => void;
  readonly reject: (error: unknown) => void;
}

export class ConfirmingMaster {
  readonly #client: Redis;
  #waiting: Waiting[] = [];
  #isRunning = false;
  /** Do not wait for replicas before this time, in ms of `performance.now()`. */
  #loneUntilMs = 0;

  /** @param onEnd called when the master no longer responds */
  constructor(
    name: string,
    private readonly masters: Masters,
    private readonly waitMs: number,
    private readonly onEnd: () => void,
  ) {
    this.#client = masters.connect(name);
  }

  /**
   * Returns the history of a tag of this master, once everything done before the call is on the replicas.
   * @throws StoreUnavailableError
   */
  confirmed(tag: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ tag, resolve, reject });
      if (!this.#isRunning) void this.#run();
    });
  }

  close(): void {
    this.#client.disconnect();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const round = this.#waiting;
      this.#waiting = [];
      await this.#confirm(round);
    }
    this.#isRunning = false;
  }

  async #confirm(round: readonly Waiting[]): Promise<void> {
    const overdue = setTimeout(() => this.close(), this.waitMs + roundReserveMs);
    const { replicas } = this.masters;
    try {
      const tags = [...new Set(round.map(({ tag }) => tag))];
      const isLone = performance.now() < this.#loneUntilMs;
      // Sent together and in this order, so that `WAIT` covers all scripts.
      const histories = tags.map((tag) => confirmScript.run(this.#client, [keys.confirmed(tag)], []));
      const confirming = isLone ? replicas : this.#client.wait(replicas, this.waitMs);
      const settled = await Promise.allSettled([confirming, ...histories]);
      const confirmations = await confirming;
      if (confirmations < replicas) await this.#expectNoReplica(confirmations);
      const found = new Map(tags.map((tag, index) => [tag, settled[index + 1]]));
      for (const waiting of round) this.#settle(waiting, found.get(waiting.tag));
    } catch (error) {
      if (!(error instanceof NoReplicaError)) this.#end();
      for (const { reject } of round) reject(unavailable(error));
    } finally {
      clearTimeout(overdue);
    }
  }

  #settle({ resolve, reject }: Waiting, result: PromiseSettledResult<unknown> | undefined): void {
    if (result?.status === 'fulfilled') {
      resolve(String(result.value));
      return;
    }
    this.masters.onMoved();
    reject(unavailable(result?.reason));
  }

  /** @throws NoReplicaError if a replica without the writes could be promoted */
  async #expectNoReplica(confirmations: number): Promise<void> {
    if (!(await this.masters.isLone(this.#client))) {
      throw new NoReplicaError(confirmations, this.masters.replicas, this.waitMs);
    }
    this.#loneUntilMs = performance.now() + loneMs;
  }

  #end(): void {
    this.close();
    this.onEnd();
  }
}

/** A node that is no longer a master refuses to write and to wait. That is not a bug of ours. */
function unavailable(error: unknown): StoreUnavailableError {
  if (error instanceof StoreUnavailableError) return error;
  return new StoreUnavailableError(`Redis: ${error instanceof Error ? error.message : 'not confirmed'}`);
}
