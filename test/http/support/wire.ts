/** Raw connections, for what HTTP clients would never send. */
import { connect } from 'node:net';

export interface Exchange {
  readonly text: string;
  /** Milliseconds until the server closed the connection; null if it was still open at the end. */
  readonly closedAfterMs: number | null;
}

const patienceMs = 20_000;

/**
 * Sends pieces with pauses, then reads until that many answers are complete or the server closes.
 * @param pieces text to send, or milliseconds to wait
 * @param answers how many to wait for; Infinity waits only for the close
 */
export async function exchange(
  port: number,
  pieces: readonly (string | number)[],
  answers = 1,
): Promise<Exchange> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const startedAtMs = performance.now();
  let text = '';
  let closedAfterMs: number | null = null;
  const over = new Promise<void>((resolve) => {
    socket.on('close', () => {
      closedAfterMs = performance.now() - startedAtMs;
      resolve();
    });
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      if (wholeAnswers(text) >= answers) resolve();
    });
  });
  socket.on('error', () => {});
  for (const piece of pieces) {
    if (typeof piece === 'number') await Promise.race([over, pause(piece)]);
    else if (socket.writable) socket.write(piece, 'latin1');
  }
  await Promise.race([over, pause(patienceMs)]);
  const outcome = { text, closedAfterMs };
  socket.destroy();
  return outcome;
}

/** Answers with a Content-Length whose body is complete. */
function wholeAnswers(text: string): number {
  let count = 0;
  for (let at = 0; ; count += 1) {
    const bodyAt = text.indexOf('\r\n\r\n', at) + 4;
    const length = /Content-Length: (\d+)/.exec(text.slice(at, Math.max(at, bodyAt)))?.[1];
    if (length === undefined || text.length < bodyAt + Number(length)) return count;
    at = bodyAt + Number(length);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
