/** Raw connections: what HTTP clients would never send. */
import { connect } from 'node:net';

export interface Exchange {
  readonly text: string;
  /** Milliseconds until the server closed the connection; null when it was still open at the end. */
  readonly closedAfterMs: number | null;
}

/**
 * Sends pieces with pauses and listens until the server closes, or until `patienceMs` after the last piece.
 * @param pieces text to send, or milliseconds to wait
 */
export async function exchange(
  port: number,
  pieces: readonly (string | number)[],
  patienceMs = 500,
): Promise<Exchange> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const startedAtMs = performance.now();
  let text = '';
  let closedAfterMs: number | null = null;
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      closedAfterMs ??= performance.now() - startedAtMs;
      resolve();
    });
  });
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
  });
  for (const piece of pieces) {
    if (typeof piece === 'number') await Promise.race([closed, pause(piece)]);
    else if (socket.writable) socket.write(piece, 'latin1');
  }
  await Promise.race([closed, pause(patienceMs)]);
  const outcome = { text, closedAfterMs };
  socket.destroy();
  return outcome;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
