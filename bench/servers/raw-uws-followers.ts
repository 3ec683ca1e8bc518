/**
 * The upper limit for our feed: uWebSockets.js writes an event of prepared bytes to all followers on each POST. `raw-uws-followers.ts PORT HOST`
 */
import uws, { type HttpResponse } from 'uWebSockets.js';

const [port = '', host = ''] = process.argv.slice(2);
const upToDate = Buffer.from('event: up-to-date\ndata: {}\n\n');
// The size of an event of the feed.
const event = Buffer.from(`event: change\ndata: ${'x'.repeat(900)}\n\n`);
const followers: HttpResponse[] = [];

uws
  .App()
  .get('/changes/v1', (response) => {
    response.onAborted(() => process.exit(1));
    response.writeHeader('Content-Type', 'text/event-stream').write(upToDate);
    followers.push(response);
  })
  .post('/*', (response) => {
    response.end();
    // Within this callback the library corks its own response only, and would make three system calls per follower.
    setImmediate(() => {
      for (const follower of followers) follower.cork(() => void follower.write(event));
    });
  })
  .listen(host, Number(port), (socket) => {
    if (!socket) process.exit(1);
  });
