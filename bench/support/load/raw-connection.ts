/**
 * A connection for requests during a load. The HTTP clients of Node would take processor time from the measured processes. Here
 * a request is a prepared buffer, and only the needed parts of a response are read.
 */
import { once } from 'node:events';
import net from 'node:net';

interface RawResponse {
  readonly status: number;
  readonly version: string;
  readonly body: string;
}

export class RawConnection {
  #socket: net.Socket | null = null;
  #received = '';
  #settle: {
    readonly resolve: (response: RawResponse) => void;
    readonly reject: (error: Error) => void;
  } | null = null;

  constructor(
    private readonly address: URL,
    private readonly headers: Readonly<Record<string, string>>,
  ) {}

  /** @param body JSON */
  postOf(body: string, path = this.address.pathname, headers: Readonly<Record<string, string>> = {}): Buffer {
    const length = String(Buffer.byteLength(body));
    return this.#requestOf(`POST ${path}`, { ...headers, 'Content-Length': length }, body);
  }

  getOf(path: string, headers: Readonly<Record<string, string>> = {}): Buffer {
    return this.#requestOf(`GET ${path}`, headers, '');
  }

  #requestOf(target: string, headers: Readonly<Record<string, string>>, body: string): Buffer {
    const lines = Object.entries({ Host: this.address.host, ...this.headers, ...headers });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    return Buffer.from(`${target} HTTP/1.1\r\n${head}\r\n${body}`);
  }

  /** Sends one request at a time. @throws Error when the connection breaks */
  async send(request: Buffer): Promise<RawResponse> {
    // The front closes a connection that is idle for long.
    const socket = this.#socket ?? (await this.#connect());
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      socket.write(request);
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  async #connect(): Promise<net.Socket> {
    const socket = net.connect({
      host: this.address.hostname,
      port: Number(this.address.port),
      noDelay: true,
    });
    await once(socket, 'connect');
    socket.setEncoding('latin1');
    socket.on('data', (piece: string) => this.#take(piece));
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#socket = null;
      this.#settle?.reject(new Error('the front closed the connection'));
    });
    this.#socket = socket;
    return socket;
  }

  #take(piece: string): void {
    this.#received += piece;
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const head = this.#received.slice(0, headEnd);
    const body = this.#received.slice(headEnd + 4);
    if (body.length < Number(headerIn(head, 'content-length'))) return;
    this.#received = '';
    const settle = this.#settle;
    this.#settle = null;
    settle?.resolve({
      status: Number(head.split(' ')[1]),
      version: headerIn(head, 'x-service-version'),
      body,
    });
  }
}

function headerIn(head: string, name: string): string {
  return new RegExp(`^${name}: *(\\S+)`, 'im').exec(head)?.[1] ?? '';
}
