/** Each process serves its own series, so that a scraper of all processes counts nothing twice. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort, requireFreePort } from '../../src/cli/start/ports.ts';
import { parsePrometheusText } from '../support/prometheus-text.ts';
import { Platform } from './support/platform.ts';

const processCount = 3;

/** The first of as many consecutive free ports as there are processes. */
async function freeRow(): Promise<number> {
  const first = await freePort('127.0.0.1');
  try {
    for (let port = first; port < first + processCount; port += 1) await requireFreePort('127.0.0.1', port);
    return first;
  } catch {
    return await freeRow();
  }
}

async function seriesOf(url: string): Promise<string[]> {
  const answer = await fetch(`${url}/metrics`);
  assert.equal(answer.status, 200);
  const samples = [...parsePrometheusText(await answer.text()).values()].flatMap((family) => family.samples);
  return samples.map(({ name, labels }) => JSON.stringify([name, ...labels]));
}

test('METRICS_PORT: each process serves its own series there, and /metrics of a front those of that front', async (context) => {
  const first = await freeRow();
  const platform = await Platform.start(context, { METRICS_PORT: String(first) });
  await platform.ready();
  const urls = Array.from({ length: processCount }, (_, at) => `http://127.0.0.1:${first + at}`);
  const ofProcesses = await Promise.all(urls.map(seriesOf));
  const roleOf = (series: readonly string[]) =>
    [...new Set(series.map((one) => /"role","(\w+)"/.exec(one)?.[1]))].join();
  assert.deepEqual(ofProcesses.map(roleOf).sort(), ['jobs', 'web', 'worker']);
  const all = ofProcesses.flat();
  assert.equal(new Set(all).size, all.length, 'each series occurs once');
  assert.equal(roleOf(await seriesOf(platform.url)), 'web');
  const processes = new Set(all.map((one) => /"process","([^"]+)"/.exec(one)?.[1]));
  assert.equal(processes.size, processCount);
});
