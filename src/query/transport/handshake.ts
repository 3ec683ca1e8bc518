/**
 * Mutual authentication of a front and a worker, before either reads a message. Both derive a key from the store's secret,
 * which only processes with access to its Redis know. Each side answers a random challenge of the other, which prevents replay.
 *
 *     front   hello: name of the protocol, front's challenge
 *     worker  worker's challenge, proof of the worker over both challenges and its id
 *     front   proof of the front over the same
 *
 * The messages that follow are neither encrypted nor signed: between machines they need a private network, as Redis does.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Increase it when the message format changes. Processes with another version are disconnected. */
const protocol = Buffer.from('millrace-query-1');
const challengeBytes = 32;
const proofBytes = 32;
const helloBytes = protocol.length + challengeBytes;

/** No frame of a handshake is larger. */
export const handshakeFrameBytesMax = challengeBytes + proofBytes;

/** @param secret of the store */
export function transportKey(secret: Buffer): Buffer {
  return createHmac('sha256', secret).update('query transport').digest();
}

/** The front's side, which begins. */
export class FrontHandshake {
  readonly #challenge = randomBytes(challengeBytes);

  /** @param workerId of the worker that the front wants to reach */
  constructor(
    private readonly key: Buffer,
    private readonly workerId: string,
  ) {}

  get hello(): Buffer {
    return Buffer.concat([protocol, this.#challenge]);
  }

  /** @returns the proof to send; null if the other end is not this worker of this store */
  proofFor(reply: Buffer): Buffer | null {
    if (reply.length !== challengeBytes + proofBytes) return null;
    const challenges = Buffer.concat([this.#challenge, reply.subarray(0, challengeBytes)]);
    const expected = proofOf(this.key, 'worker', challenges, this.workerId);
    if (!timingSafeEqual(reply.subarray(challengeBytes), expected)) return null;
    return proofOf(this.key, 'front', challenges, this.workerId);
  }
}

/** The worker's side. */
export class WorkerHandshake {
  #challenges: Buffer | null = null;

  constructor(
    private readonly key: Buffer,
    private readonly workerId: string,
  ) {}

  /** True once it is waiting for the proof of the front. */
  get isGreeted(): boolean {
    return this.#challenges !== null;
  }

  /** @returns the reply to send; null if the frame is not a hello of this protocol */
  replyTo(hello: Buffer): Buffer | null {
    if (hello.length !== helloBytes || !hello.subarray(0, protocol.length).equals(protocol)) return null;
    const challenge = randomBytes(challengeBytes);
    this.#challenges = Buffer.concat([hello.subarray(protocol.length), challenge]);
    return Buffer.concat([challenge, proofOf(this.key, 'worker', this.#challenges, this.workerId)]);
  }

  /** True if the other end is a front of this store. */
  isProven(proof: Buffer): boolean {
    if (this.#challenges === null || proof.length !== proofBytes) return false;
    return timingSafeEqual(proof, proofOf(this.key, 'front', this.#challenges, this.workerId));
  }
}

/** The role prevents reflection: neither end can reuse the other's proof. Challenges have a fixed length. */
function proofOf(key: Buffer, role: 'front' | 'worker', challenges: Buffer, workerId: string): Buffer {
  return createHmac('sha256', key).update(`${role}:`).update(challenges).update(workerId).digest();
}
