/**
 * Memory of the answers that clients follow: the present ones, and former ones that slow clients still take. It is bounded, and
 * no tenant's answers take all of it: each tenant has a share of what the others leave.
 */
import { ProblemError, problems } from '../../contract/errors.ts';
import { liveAnswersTenantShare } from '../../contract/limits.ts';

/** The holder's view of a client that is receiving a response. */
export interface Taker {
  /** Ends the connection: its answer is not held any longer. */
  cutOff(): void;
}

export class HeldAnswer {
  readonly takers = new Set<Taker>();
  /** False once another response has replaced it. */
  isPresent = true;

  constructor(
    readonly tenant: string,
    readonly etag: string,
    readonly event: Uint8Array,
    /** Memory that it takes, with what is known of it. */
    readonly bytes: number,
  ) {}
}

export class HeldAnswers {
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;
  /** Those that clients still take, the oldest first. */
  readonly #former = new Set<HeldAnswer>();

  /** @param bytesMax of all answers together */
  constructor(private readonly bytesMax: number) {}

  /** Of all answers. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Holds an answer in the place of another. Where there is no room for it, clients that still take former answers of the tenant
   * are cut off. One answer may always be there alone, and one that is no larger than that in whose place it comes.
   * @throws ProblemError `liveAnswersFull`
   */
  hold(answer: HeldAnswer, before: HeldAnswer | null): void {
    if (before !== null) this.release(before);
    while (!this.#hasRoom(answer, before)) this.#giveUpFormer(answer.tenant);
    this.#count(answer, answer.bytes);
  }

  /** The response is outdated. It is kept until all clients that are receiving it have it. */
  release(answer: HeldAnswer): void {
    if (!answer.isPresent) return;
    answer.isPresent = false;
    if (answer.takers.size > 0) this.#former.add(answer);
    else this.#count(answer, -answer.bytes);
  }

  /** A client has all of the answer, or is gone. */
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

  /** @throws ProblemError `liveAnswersFull` when there is none */
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
