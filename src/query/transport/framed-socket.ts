/** Frames over a socket, whether of the file system or TCP: each is its length and its bytes. */
import type { Socket } from 'node:net';
import { queryMessageBytesMax, queryUnsentBytesMax } from '../../contract/limits.ts';
import { pack, unpack } from '../../store/codec/pack.ts';

/** Length of a frame, before its bytes: little-endian. */
const headBytes = 4;
/** In a long turn, messages that have waited this long leave with the next one. */
const holdMs = 0.5;

/**
 * One end of a connection. First it sends and receives raw frames, for a handshake, and afterwards packed messages. Messages
 * of one turn of the event loop leave in one write, because a system call may have to wake the process at the other end.
 */
export class FramedSocket {
  /** Packed messages that have not left. */
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  /** When the first of them was sent, on the clock of `performance.now()`. */
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
      // What came together with something unexpected is not read.
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

  /** Sends a frame at once. */
  sendFrame(bytes: Uint8Array): void {
    this.socket.write(framed([bytes]));
  }

  /**
   * From now on, all that comes is packed messages. Anything else closes the connection.
   * @param onMessage called with each message. It must check the form of a message that another version may have sent
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

  /** From now on it reads nothing while the other end does not read what was sent. Only one end may do so. */
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

  /** Sends also while much is unsent: for messages of a few bytes whose number has another bound. */
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

/** The messages in frames, one after the other. */
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
  /** A frame begins that is larger than allowed. Nothing is read any more. */
  tooLarge(): void;
}

/** Finds the frames in the pieces of a stream, however they are cut. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #heldBytes = 0;
  /** Bytes to hold before looking for a frame again; infinite after a frame that was too large. */
  #wantedBytes = headBytes;

  constructor(
    public frameBytesMax: number,
    private readonly events: FrameEvents,
  ) {}

  /** Takes the next piece. @param piece must not be changed from now on */
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

  /** @returns the place after the last whole frame */
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
