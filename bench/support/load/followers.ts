/**
 * A process of followers of a feed: `followers.ts HOST PORT KEY`. Its parent says how many there shall be, and hears when
 * all of them stand at the present, then for each change when each of them had it. Sockets alone, which read into one
 * buffer: a client library would cost more than the front.
 */
import { connect } from 'node:net';

const [host = '', port = '', key = ''] = process.argv.slice(2);
const opensAtOnce = 100;
const opensEveryMs = 20;
const shared = Buffer.alloc(256 * 1024);
let wanted = 0;
let opened = 0;
let ready = 0;
let heardAtMs: number[] = [];

function open(): void {
  let isReady = false;
  const heard = (bytes: number, buffer: Uint8Array) => {
    const text = Buffer.from(buffer.buffer, buffer.byteOffset, bytes);
    if (text.includes('event: change')) {
      heardAtMs.push(performance.timeOrigin + performance.now());
      if (heardAtMs.length < wanted) return true;
      process.send?.({ heardAtMs });
      heardAtMs = [];
    } else if (!isReady && text.includes('event: up-to-date')) {
      isReady = true;
      ready += 1;
      if (ready === wanted) process.send?.({ ready });
    }
    return true;
  };
  const socket = connect({ host, port: Number(port), onread: { buffer: shared, callback: heard } });
  socket.write(`GET /changes/v1?since=now&live=sse HTTP/1.1\r\nHost: ${host}\r\nX-Api-Key: ${key}\r\n\r\n`);
  socket.on('close', () => process.send?.({ error: 'a follower was cut off' }));
  socket.on('error', (error) => process.send?.({ error: error.message }));
}

setInterval(() => {
  for (let at = 0; at < opensAtOnce && opened < wanted; at += 1, opened += 1) open();
}, opensEveryMs);
process.on('message', (count: number) => {
  wanted = count;
});
process.on('disconnect', () => process.exit());
