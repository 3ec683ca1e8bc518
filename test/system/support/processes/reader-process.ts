/** The process of a `Reader`: `reader-process.ts KEY URL...` reads for a given number of ms and reports its latencies. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const pauseMs = 2;
const [key = '', ...urls] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

function statusOf(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { agent, headers: { 'X-Api-Key': key } }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    })
      .on('error', reject)
      .end();
  });
}

async function latencyOf(url: string): Promise<number> {
  const startMs = performance.now();
  const status = await statusOf(url);
  if (status !== 200) throw new Error(`${url} answered ${status}`);
  return performance.now() - startMs;
}

process.on('message', async (forMs) => {
  const endMs = performance.now() + Number(forMs);
  const latencies: number[] = [];
  for (let turn = 0; performance.now() < endMs; turn += 1) {
    latencies.push(await latencyOf(urls[turn % urls.length] ?? ''));
    await sleep(pauseMs);
  }
  process.send?.(latencies);
});
