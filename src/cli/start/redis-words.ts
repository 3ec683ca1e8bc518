import { connect } from 'node:net';

const answerTimeoutMs = 2_000;

/**
 * `ok`: done; `refused`: Redis answered with an error, or not in time (it may still load); `noAnswer`: it is not there,
 * or not ours.
 */
export type RedisAnswer = 'ok' | 'refused' | 'noAnswer';

/**
 * Sends one word to a private Redis, to see if it is there or to end it. The store's client is of no use here: it waits
 * and tries again, and this must see immediately what is there.
 */
export function askRedis(
  host: string,
  { port, password }: { readonly port: number; readonly password: string },
  word: 'PING' | 'SHUTDOWN',
): Promise<RedisAnswer> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ host, port });
    const end = (answer: RedisAnswer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(answerTimeoutMs, () => end('refused'));
    socket.setEncoding('utf8');
    socket.on('data', (piece: string) => {
      text += piece;
      const [login, answer] = text.split('\r\n');
      if (text.includes('\r\n') && login !== '+OK') return end('noAnswer');
      if (answer?.startsWith('+PONG')) end('ok');
      else if (answer?.startsWith('-') && text.endsWith('\r\n')) end('refused');
    });
    socket.once('error', () => end('noAnswer'));
    // The only answer to `SHUTDOWN` is the end of the connection.
    socket.once('close', () => end(word === 'SHUTDOWN' ? 'ok' : 'noAnswer'));
    socket.write(`AUTH ${password}\r\n${word}\r\n`);
  });
}
