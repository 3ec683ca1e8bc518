/** Writes messages to a link: what is said within one turn of the event loop travels together, under one head. */
import type { Socket } from 'node:net';
import { FrameBuffer } from '../protocol/frame-buffer.ts';

/** A frame goes out as soon as it has so many: the other side works on them while this one goes on. */
const messagesPerFrame = 8;
const frameBytesMax = 256 * 1024;

export class LinkWriter {
  readonly #frame = new FrameBuffer();
  #head = '';
  #messages = 0;
  #isScheduled = false;

  constructor(private readonly socket: Socket) {}

  /** False once nobody reads at the other side. */
  get isOpen(): boolean {
    return this.socket.writable;
  }

  /**
   * Where a message is to be written now; `end` must follow.
   * @param head what it shares with others of its frame; the first text of the frame
   */
  begin(head: string): FrameBuffer {
    if (this.#messages > 0 && head !== this.#head) this.#flush();
    if (this.#messages === 0) {
      this.#head = head;
      this.#frame.writeText(head);
    }
    this.#messages += 1;
    return this.#frame;
  }

  end(): void {
    if (this.#messages >= messagesPerFrame || this.#frame.bytes >= frameBytesMax) {
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
    if (this.#messages === 0) return;
    this.#messages = 0;
    this.#frame.send(this.socket);
  }
}
