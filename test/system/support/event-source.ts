/** Server-sent events of a front, read as they arrive (the HTML standard, "Server-sent events"). */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { neverMs } from '../../support/until.ts';

export interface SentEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

export class EventSource {
  readonly events: SentEvent[] = [];
  /** Number of comments. */
  comments = 0;
  status = 0;
  contentType = '';
  isEnded = false;
  #text = '';
  #wake: (() => void)[] = [];
  readonly #request: ClientRequest;
  #response: IncomingMessage | null = null;

  constructor(url: string, headers: Readonly<Record<string, string>>) {
    this.#request = request(url, { headers, agent: false }, (response) => {
      this.#response = response;
      this.status = response.statusCode ?? 0;
      this.contentType = response.headers['content-type'] ?? '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => this.#take(text));
      response.on('error', () => this.#end());
      response.on('close', () => this.#end());
      this.#tell();
    });
    this.#request.on('error', () => this.#end());
    this.#request.end();
  }

  get lastId(): string {
    return this.events.at(-1)?.id ?? '';
  }

  /** Stops reading from the connection. */
  pause(): void {
    this.#response?.pause();
  }

  resume(): void {
    this.#response?.resume();
  }

  close(): void {
    this.#request.destroy();
  }

  /** Resolves once the condition holds. @throws Error after the timeout, or if the stream ends before */
  async until(isMet: () => boolean, what: string, timeoutMs = neverMs): Promise<void> {
    const deadlineMs = performance.now() + timeoutMs;
    while (!isMet()) {
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0)
        throw new Error(`${what}: not within ${timeoutMs} ms, ${this.events.length} events came`);
      if (this.isEnded) throw new Error(`${what}: the stream ended (status ${this.status})`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.#wake.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  #take(text: string): void {
    this.#text += text;
    // A large event arrives in many chunks, and each search would flatten the concatenated string.
    if (!text.includes('\n')) return;
    for (let end = this.#text.indexOf('\n\n'); end >= 0; end = this.#text.indexOf('\n\n')) {
      this.#block(this.#text.slice(0, end));
      this.#text = this.#text.slice(end + 2);
    }
    this.#tell();
  }

  #block(block: string): void {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      const colon = line.indexOf(':');
      if (colon === 0) this.comments += 1;
      else fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''));
    }
    if (fields.size === 0) return;
    this.events.push({
      id: fields.get('id') ?? '',
      event: fields.get('event') ?? '',
      data: fields.get('data') ?? '',
    });
  }

  #end(): void {
    this.isEnded = true;
    this.#tell();
  }

  #tell(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}
