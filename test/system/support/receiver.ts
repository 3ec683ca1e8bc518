/** A webhook's receiver: a real HTTP server that records its requests. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { JsonObject } from '../../../src/contract/json.ts';
import { neverMs, until } from '../../support/until.ts';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly atMs: number;
}

type Answering = (response: ServerResponse, received: Received) => void;

const yes: Answering = (response) => response.writeHead(204).end();

export const webhookSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** Settings of a platform that may send to this receiver. */
export const receiverEnvironment = { WEBHOOK_ALLOW: '127.0.0.0/8' };

/**
 * A webhook of a tenant that sends each change immediately, to the path of its alias.
 * @param port of the receiver
 * @param more members that replace the defaults
 */
export function webhookTo(port: number, alias: string, more: JsonObject = {}): JsonObject {
  return {
    alias,
    environment: 'production',
    url: `http://127.0.0.1:${port}/${alias}`,
    secret: webhookSecret,
    batch: { seconds: 0 },
    ...more,
  };
}

export class Receiver {
  readonly received: Received[] = [];
  answer: Answering = yes;
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const received = { path: request.url ?? '', headers: request.headers, text, atMs: Date.now() };
      this.received.push(received);
      this.answer(response, received);
    });
  });

  async listen(port = 0): Promise<number> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  at(path: string): Received[] {
    return this.received.filter((one) => one.path === path);
  }

  /** Waits until a path has received this number of requests. */
  async count(path: string, count: number, timeoutMs = neverMs): Promise<Received[]> {
    await until(`${count} requests to ${path}`, () => this.at(path).length >= count, timeoutMs);
    return this.at(path);
  }
}

/** The content of a request with a valid signature. @throws WebhookVerificationError */
export function verified({ text, headers }: Received, secret: string): Message {
  return new Webhook(secret).verify(text, headers as Record<string, string>) as Message;
}

export interface SentChange {
  readonly id: string;
  readonly originId: string;
  readonly alias: string;
  readonly action: string;
  readonly urls: readonly string[];
  readonly options?: unknown;
  readonly shownOn?: readonly string[];
}

export interface Message {
  readonly type: string;
  readonly timestamp: string;
  readonly data: { readonly changes: readonly SentChange[] };
}
