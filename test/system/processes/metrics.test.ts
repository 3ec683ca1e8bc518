/** `GET /metrics` of a whole platform is valid for Prometheus, and has what the dashboard and the alert rules use. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { hashKey } from '../../../src/config/tenant/api-keys.ts';
import { rowsOf, textOf } from '../../docs/support/markdown.ts';
import { parsePrometheusText } from '../../support/prometheus-text.ts';
import { until } from '../../support/until.ts';
import { entityOf } from '../support/data/entities.ts';
import { Ledger } from '../support/ledger.ts';
import { System } from '../support/processes/system.ts';
import { siteFiles, sourceId, sourceKey } from '../support/site.ts';

const operations = fileURLToPath(new URL('../../../docs/operations/', import.meta.url));
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
const withPromtool = { skip: !hasPromtool && 'promtool is not installed' };
const metricsKey = 'scrape-1f0c';
const files = siteFiles({
  schemas: { page: { triggers: { cms: ['page'] }, properties: { title: '{p.title}' } } },
});

let system: System;
before(async () => {
  system = await System.start({
    web: 2,
    workers: 2,
    jobs: 1,
    partitions: 4,
    files,
    env: { METRICS_KEY: hashKey(metricsKey) },
  });
  const ledger = new Ledger({ key: sourceKey, sourceId });
  await ledger.save(system.client(), [entityOf('a', 'page', { title: 'A' })]);
  await system.client().get('/nowhere');
});
after(() => system?.stop());

async function scrape(headers: Record<string, string>): Promise<{ status: number; text: string }> {
  const response = await fetch(`${system.url()}/metrics`, { headers });
  return { status: response.status, text: await response.text() };
}

/** The metrics, once they include those of all processes. */
async function wholeText(): Promise<string> {
  let text = '';
  await until('every process has reported its metrics', async () => {
    ({ text } = await scrape({ Authorization: `Bearer ${metricsKey}` }));
    return rolesIn(text, 'millrace_process_cpu_seconds_total').length === 5;
  });
  return text;
}

function rolesIn(text: string, name: string): string[] {
  const samples = parsePrometheusText(text).get(name)?.samples ?? [];
  return samples.map(({ labels }) => labels.get('role') ?? '').sort();
}

test('metrics: Prometheus can read the metrics of fronts, workers and jobs together', async () => {
  const text = await wholeText();
  const families = parsePrometheusText(text);
  assert.ok((families.get('millrace_http_requests_total')?.samples.length ?? 0) > 0);
  for (const name of [
    'millrace_process_cpu_seconds_total',
    'millrace_process_resident_memory_bytes',
    'millrace_nodejs_eventloop_lag_p99_seconds',
  ]) {
    assert.deepEqual(rolesIn(text, name), ['jobs', 'web', 'web', 'worker', 'worker'], name);
  }
});

test('metrics: promtool accepts the metrics', withPromtool, async () => {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: await wholeText(),
    encoding: 'utf8',
  });
  assert.deepEqual([status, stdout, stderr], [0, '', '']);
});

test('metrics: with METRICS_KEY the metrics require the key', async () => {
  for (const headers of [
    {},
    { Authorization: 'Bearer other' },
    { Authorization: metricsKey },
    { 'X-Api-Key': hashKey(metricsKey) },
    { Authorization: 'Bearer other', 'X-Api-Key': metricsKey },
  ]) {
    const { status, text } = await scrape(headers as Record<string, string>);
    assert.equal(status, 401, JSON.stringify(headers));
    assert.deepEqual(Object.keys(JSON.parse(text)), ['status', 'message', 'code']);
    assert.ok(!text.includes('millrace_'), text);
  }
  for (const headers of [
    { Authorization: `Bearer ${metricsKey}` },
    { authorization: `bearer ${metricsKey}` },
    { 'X-Api-Key': metricsKey },
  ]) {
    assert.equal((await scrape(headers as Record<string, string>)).status, 200, JSON.stringify(headers));
  }
});

test('metrics: the dashboard and the alert rules use existing metrics', async () => {
  const families = parsePrometheusText(await wholeText());
  for (const file of ['grafana-dashboard.json', 'alerts.yml']) {
    const text = readFileSync(`${operations}${file}`, 'utf8');
    const names = new Set(text.match(/\bmillrace_\w+/g));
    assert.ok(names.size > 5, file);
    for (const name of names) {
      const family = name.replace(/_bucket$/, '');
      assert.ok(families.has(family), `${file} asks for ${name}`);
    }
  }
});

test('metrics: promtool accepts the alert rules', withPromtool, () => {
  const { status, stderr, stdout } = spawnSync('promtool', ['check', 'rules', `${operations}alerts.yml`], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout + stderr);
});

test('metrics: the reference has a row for every metric, and for no other', async () => {
  // The metrics of `prom-client` itself differ between versions of Node.
  const families = [...parsePrometheusText(await wholeText())]
    .filter(([name]) => !/^millrace_(?:nodejs|process)_/.test(name))
    .map(([name, { type, help }]) => [`\`${name}\``, type, help]);
  const documented = rowsOf(textOf('docs/reference/metrics.md'), 'name');
  assert.deepEqual(documented, families.sort());
});
