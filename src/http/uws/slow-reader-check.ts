/**
 * Notices a client that takes an answer slower than it may. Reading is seen in steps, as the client's system tells of
 * freed buffers: a client that takes 16 KB in 9 s is seen to take 14 KB, then 18 KB. So what is missing at one look may
 * come at the next.
 */
import { slowReaderBytesMin, slowReaderMs } from '../../contract/limits.ts';

const msPerByte = slowReaderMs / slowReaderBytesMin;

export class SlowReaderCheck {
  /** How long the client is behind. A client that takes more than it must gets no credit. */
  #behindMs = 0;

  readonly #behindMsMax: number;

  /**
   * @param taken bytes of the answer that the client has taken at `atMs`
   * @param stepBytes of a step in which `taken` grows: a client may be behind by so much more
   */
  constructor(
    private atMs: number,
    private taken: number,
    stepBytes = 0,
  ) {
    this.#behindMsMax = slowReaderMs + msPerByte * stepBytes;
  }

  /** @param taken bytes that the client has taken at `nowMs`. @returns whether it is too far behind */
  isTooSlow(nowMs: number, taken: number): boolean {
    const passedMs = nowMs - this.atMs;
    this.#behindMs = Math.max(0, this.#behindMs + passedMs - msPerByte * (taken - this.taken));
    this.atMs = nowMs;
    this.taken = taken;
    return this.#behindMs >= this.#behindMsMax;
  }
}
