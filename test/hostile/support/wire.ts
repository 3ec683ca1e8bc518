/** Sends one request of any bytes on its own connection, and parses the response. */
import { connect } from 'node:net';

export interface WireAnswer {
  /** 0 if the server closed the connection without an answer. */
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  readonly tookMs: number;
  /** The server closed the connection before the response was complete. */
  readonly isCut: boolean;
}

export interface WireOptions {
  /** Ends the sending side after the bytes, like a client that gives up. */
  readonly end?: boolean;
  readonly patienceMs: number;
}

export class NoResponseError extends Error {
  override readonly name = 'NoResponseError';
}

/** The first answer on a new connection. @throws NoResponseError if neither an answer nor the end arrives in time */
export function send(port: number, bytes: Buffer, options: WireOptions): Promise<WireAnswer> {
  const startedAtMs = performance.now();
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const pieces: Buffer[] = [];
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new NoResponseError(`no answer within ${options.patienceMs} ms`));
    }, options.patienceMs);
    const finish = (isClosed: boolean) => {
      const answer = parseAnswer(Buffer.concat(pieces), performance.now() - startedAtMs, isClosed);
      if (answer === null) return;
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    socket.on('error', () => {});
    socket.on('data', (piece) => {
      pieces.push(piece);
      finish(false);
    });
    socket.on('close', () => finish(true));
    if (options.end === true) socket.end(bytes);
    else socket.write(bytes);
  });
}

const headEnd = Buffer.from('\r\n\r\n');

function parseAnswer(bytes: Buffer, tookMs: number, isClosed: boolean): WireAnswer | null {
  const at = bytes.indexOf(headEnd);
  if (at === -1) {
    return isClosed ? { status: 0, headers: new Map(), body: bytes, tookMs, isCut: bytes.length > 0 } : null;
  }
  const [line = '', ...fields] = bytes.toString('latin1', 0, at).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(line)?.[1] ?? 0);
  const headers = new Map(
    fields.map((field) => {
      const colon = field.indexOf(':');
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()] as const;
    }),
  );
  const body = bytes.subarray(at + headEnd.length);
  const announced = headers.get('content-length');
  const length = announced === undefined ? 0 : Number(announced);
  const isWhole = body.length >= length && (announced !== undefined || status === 304 || isClosed);
  if (!isWhole && !isClosed) return null;
  return {
    status,
    headers,
    body: announced === undefined ? body : body.subarray(0, length),
    tookMs,
    isCut: !isWhole,
  };
}
