/** Sends packed messages over a socket. Each message is its length (4 bytes, little-endian) and its bytes. */
import type { Socket } from 'node:net';
import { pack, unpack } from '../../store/codec/pack.ts';

const headBytes = 4;

export class FramedSocket {
  /** @param onMessage called with each message. It must check the form of a message that a stranger may have sent */
  constructor(
    private readonly socket: Socket,
    private readonly onMessage: (message: unknown) => void,
  ) {
    const frames = new FrameReader((frame) => this.#read(frame));
    socket.on('data', (piece) => frames.take(piece));
    socket.on('error', () => {});
  }

  /** False once nobody reads at the other end. */
  get isOpen(): boolean {
    return this.socket.writable;
  }

  /** Sends a message. A closed socket takes nothing. */
  send(message: unknown): void {
    if (!this.socket.writable) return;
    const bytes = pack(message);
    const head = Buffer.allocUnsafe(headBytes);
    head.writeUInt32LE(bytes.length);
    this.socket.cork();
    this.socket.write(head);
    this.socket.write(bytes);
    this.socket.uncork();
  }

  close(): void {
    this.socket.destroy();
  }

  /** A peer that sends anything but packed messages is cut off. */
  #read(frame: Buffer): void {
    let message: unknown;
    try {
      message = unpack(frame);
    } catch {
      this.socket.destroy();
      return;
    }
    this.onMessage(message);
  }
}

/** Finds the frames in the pieces of a stream, however they are cut. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #heldBytes = 0;
  /** Bytes to hold before looking for a frame again. */
  #wantedBytes = headBytes;

  constructor(private readonly onFrame: (bytes: Buffer) => void) {}

  /** Takes the next piece. @param piece must not be changed from now on */
  take(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#heldBytes += piece.length;
    if (this.#heldBytes < this.#wantedBytes) return;
    const held = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces);
    const from = this.#readFrames(held);
    this.#pieces = from < held.length ? [held.subarray(from)] : [];
    this.#heldBytes = held.length - from;
  }

  /** @returns the place behind the last whole frame */
  #readFrames(held: Buffer): number {
    for (let from = 0; ; ) {
      const left = held.length - from;
      this.#wantedBytes = left < headBytes ? headBytes : headBytes + held.readUInt32LE(from);
      if (left < this.#wantedBytes) return from;
      const end = from + this.#wantedBytes;
      this.onFrame(held.subarray(from + headBytes, end));
      from = end;
    }
  }
}
