/** Length-prefixed frames over a Unix domain socket or TCP. */
import type { Socket } from 'node:net';
import { queryMessageBytesMax, queryUnsentBytesMax } from '../../contract/limits.ts';
import { pack, unpack } from '../../store/codec/pack.ts';

/** Size of the length before each frame, little-endian. */
const headBytes = 4;
/** In a long turn, messages that have waited this long are sent with the next one. */
const holdMs = 0.5;

/**
 * One end of a connection. It begins with raw frames, for a handshake, and continues with packed messages. Messages of one turn
 * of the event loop are sent in one write, because each system call may have to wake the process at the other end.
 */
export class FramedSocket {
  /** Packed messages that are not written yet. */
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  /** When the first of them was added, on the clock of `performance.now()`. */
  #heldSinceMs = 0;
  #pausesWhenFull = false;
  #onFrame: (frame: Buffer) => void;
  readonly #frames: FrameReader;

  /** @param onFrame called with each frame until `readMessages` is called */
  constructor(
    private readonly socket: Socket,
    frameBytesMax: number,
    onFrame: (frame: Buffer) => void,
  ) {
    this.#onFrame = onFrame;
    this.#frames = new FrameReader(frameBytesMax, {
      // Ignores the rest of a piece after an unexpected frame.
      frame: (frame) => {
        if (!socket.destroyed) this.#onFrame(frame);
      },
      tooLarge: () => socket.destroy(),
    });
    socket.on('data', (piece) => this.#frames.take(piece));
    socket.on('error', () => {});
  }

  /** False once the other end is closed. */
  get isOpen(): boolean {
    return this.socket.writable;
  }

  /** Sends a frame immediately. */
  sendFrame(bytes: Uint8Array): void {
    this.socket.write(framed([bytes]));
  }

  /**
   * From now on, all frames are packed messages. Anything else closes the connection.
   * @param onMessage called with each message. It must check the shape, because another version may have sent it
   */
  readMessages(onMessage: (message: unknown) => void): void {
    this.#frames.frameBytesMax = queryMessageBytesMax;
    this.#onFrame = (frame) => {
      let message: unknown;
      try {
        message = unpack(frame);
      } catch {
        this.socket.destroy();
        return;
      }
      onMessage(message);
    };
  }

  /** Backpressure: stops reading while the other end does not read. Only one end may do so, or both could wait forever. */
  pauseWhenFull(): void {
    this.#pausesWhenFull = true;
    this.socket.on('drain', () => this.socket.resume());
  }

  /** @returns false for a message that cannot be sent: the socket is closed, too much is unsent, or the message is too large */
  send(message: unknown): boolean {
    if (this.#isFull) return false;
    const packed = pack(message);
    return packed.length <= queryMessageBytesMax && this.#hold(packed);
  }

  /** Sends even if too much is unsent: for messages of a few bytes whose number is bounded otherwise. */
  sendSmall(message: unknown): boolean {
    return this.#hold(pack(message));
  }

  close(): void {
    this.socket.destroy();
  }

  get #isFull(): boolean {
    return this.#heldBytes + this.socket.writableLength > queryUnsentBytesMax;
  }

  #hold(packed: Uint8Array): boolean {
    if (!this.socket.writable) return false;
    if (this.#held.length === 0) {
      this.#heldSinceMs = performance.now();
      setImmediate(this.#flush);
    }
    this.#held.push(packed);
    this.#heldBytes += packed.length;
    if (performance.now() - this.#heldSinceMs >= holdMs) this.#flush();
    return true;
  }

  readonly #flush = (): void => {
    if (this.#held.length > 0 && this.socket.writable) this.socket.write(framed(this.#held));
    this.#held = [];
    this.#heldBytes = 0;
    if (this.#pausesWhenFull && this.#isFull) this.socket.pause();
  };
}

/** Concatenates messages as frames. */
function framed(messages: readonly Uint8Array[]): Buffer {
  const bytes = messages.reduce((sum, { length }) => sum + headBytes + length, 0);
  const frames = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const message of messages) {
    at = frames.writeUInt32LE(message.length, at);
    frames.set(message, at);
    at += message.length;
  }
  return frames;
}

interface FrameEvents {
  frame(bytes: Buffer): void;
  /** A frame is larger than allowed. Nothing more is read. */
  tooLarge(): void;
}

/** Finds the frames in the chunks of a stream. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #heldBytes = 0;
  /** Bytes to collect before looking for a frame again; infinite after a frame that was too large. */
  #wantedBytes = headBytes;

  constructor(
    public frameBytesMax: number,
    private readonly events: FrameEvents,
  ) {}

  /** Adds the next chunk. @param piece must not be changed afterwards */
  take(piece: Buffer): void {
    if (this.#wantedBytes === Number.POSITIVE_INFINITY) return;
    this.#pieces.push(piece);
    this.#heldBytes += piece.length;
    if (this.#heldBytes < this.#wantedBytes) return;
    const held = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces);
    const from = this.#readFrames(held);
    this.#pieces = from < held.length ? [held.subarray(from)] : [];
    this.#heldBytes = held.length - from;
  }

  /** @returns the position after the last complete frame */
  #readFrames(held: Buffer): number {
    for (let from = 0; ; ) {
      const left = held.length - from;
      const bytes = left < headBytes ? 0 : held.readUInt32LE(from);
      if (bytes > this.frameBytesMax) {
        this.#wantedBytes = Number.POSITIVE_INFINITY;
        this.events.tooLarge();
        return held.length;
      }
      this.#wantedBytes = headBytes + bytes;
      if (left < this.#wantedBytes) return from;
      const end = from + this.#wantedBytes;
      this.events.frame(held.subarray(from + headBytes, end));
      from = end;
    }
  }
}
