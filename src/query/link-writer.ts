/** Writes messages to a link: what is said within one turn of the event loop travels together. */
import type { Socket } from 'node:net';
import type { MessageBody } from '../store/message-body.ts';
import { bodyBytes } from '../store/messages.ts';
import { packBriefly } from '../store/pack.ts';
import { frameOf } from './frames.ts';

/** A frame goes out as soon as it has so many: the other side works on them while this one goes on. */
const messagesPerFrame = 8;
const frameBytesMax = 256 * 1024;

export class LinkWriter {
  #waiting: (readonly MessageBody[])[] = [];
  #waitingBytes = 0;
  #isScheduled = false;

  constructor(private readonly socket: Socket) {}

  put(message: readonly MessageBody[]): void {
    this.#waiting.push(message);
    this.#waitingBytes += bodyBytes(message);
    if (this.#waiting.length >= messagesPerFrame || this.#waitingBytes >= frameBytesMax) {
      this.#flush();
    } else if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(() => {
        this.#isScheduled = false;
        this.#flush();
      });
    }
  }

  #flush(): void {
    if (this.#waiting.length === 0) return;
    const messages = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    // What is written to a broken link is lost with it, and asked again.
    if (this.socket.writable) this.socket.write(frameOf(packBriefly(messages)));
  }
}
