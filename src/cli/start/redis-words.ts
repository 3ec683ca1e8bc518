import { connect } from 'node:net';

const answerTimeoutMs = 2_000;

/** `ok`: done; `refused`: it answered, but not yes (still loading, for instance); `noAnswer`: it is not there. */
export type RedisAnswer = 'ok' | 'refused' | 'noAnswer';

/**
 * One word to a private Redis: is it there, or should it end. Starting and ending a server is not what the store's
 * client is for: that one waits and tries again, this must see at once what is.
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
    // To `SHUTDOWN` there is no other answer than the end of the connection.
    socket.once('close', () => end(word === 'SHUTDOWN' ? 'ok' : 'noAnswer'));
    socket.write(`AUTH ${password}\r\n${word}\r\n`);
  });
}
