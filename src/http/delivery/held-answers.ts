/**
 * Bounds the memory of live answers: the current ones, and previous ones that slow clients are still receiving. No tenant can
 * take all of it: each may use a share of what the others leave.
 */
import { ProblemError, problems } from '../../contract/errors.ts';
import { liveAnswersTenantShare } from '../../contract/limits.ts';

/** A client that is receiving an answer. */
export interface Taker {
  /** Closes the connection, so that its answer can be released. */
  cutOff(): void;
}

export class HeldAnswer {
  readonly takers = new Set<Taker>();
  /** False once another answer has replaced it. */
  isPresent = true;

  constructor(
    readonly tenant: string,
    readonly etag: string,
    readonly event: Uint8Array,
    /** Memory of the event and of its bookkeeping. */
    readonly bytes: number,
  ) {}
}

export class HeldAnswers {
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;
  /** Former answers that clients are still receiving, the oldest first. */
  readonly #former = new Set<HeldAnswer>();

  /** @param bytesMax of all answers together */
  constructor(private readonly bytesMax: number) {}

  /** Of all answers. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Holds an answer, and releases the one that it replaces. If there is no room, clients that are still receiving former
   * answers of the tenant are disconnected. There is always room for a single answer, and for one that is no larger than the
   * one it replaces, unless that is still being received.
   * @throws ProblemError `liveAnswersFull`
   */
  hold(answer: HeldAnswer, before: HeldAnswer | null): void {
    if (before !== null) this.release(before);
    while (!this.#hasRoom(answer, before)) this.#giveUpFormer(answer.tenant);
    this.#count(answer, answer.bytes);
  }

  /** Marks an answer as replaced. It is held until all clients that are receiving it are done. */
  release(answer: HeldAnswer): void {
    if (!answer.isPresent) return;
    answer.isPresent = false;
    if (answer.takers.size > 0) this.#former.add(answer);
    else this.#count(answer, -answer.bytes);
  }

  /** The client has received the whole answer, or has disconnected. */
  taken(answer: HeldAnswer, by: Taker): void {
    if (!answer.takers.delete(by) || answer.takers.size > 0 || answer.isPresent) return;
    this.#former.delete(answer);
    this.#count(answer, -answer.bytes);
  }

  #hasRoom({ tenant, bytes }: HeldAnswer, before: HeldAnswer | null): boolean {
    if (this.#bytes === 0) return true;
    if (before !== null && bytes <= before.bytes && !this.#former.has(before)) return true;
    const ofTenant = this.#bytesOf.get(tenant) ?? 0;
    const leftByOthers = this.bytesMax - (this.#bytes - ofTenant);
    return ofTenant + bytes <= leftByOthers * liveAnswersTenantShare;
  }

  /** @throws ProblemError `liveAnswersFull` if there is none */
  #giveUpFormer(tenant: string): void {
    const former = this.#oldestFormerOf(tenant);
    if (former === undefined) throw new ProblemError(problems.liveAnswersFull);
    for (const taker of [...former.takers]) {
      taker.cutOff();
      this.taken(former, taker);
    }
  }

  #oldestFormerOf(tenant: string): HeldAnswer | undefined {
    for (const former of this.#former) if (former.tenant === tenant) return former;
    return undefined;
  }

  #count({ tenant }: HeldAnswer, bytes: number): void {
    this.#bytes += bytes;
    const ofTenant = (this.#bytesOf.get(tenant) ?? 0) + bytes;
    if (ofTenant === 0) this.#bytesOf.delete(tenant);
    else this.#bytesOf.set(tenant, ofTenant);
  }
}
