/**
 * The metrics that every process has, and a server for them: with METRICS_PORT, each process serves its metrics, so that
 * Prometheus can scrape it directly.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import { platformVersion } from '../config/settings/platform-version.ts';
import type { Settings } from '../config/settings/settings.ts';
import { hashedForm } from '../config/tenant/api-keys.ts';
import { mergeMetrics } from '../http/operations/front-metrics.ts';
import { authorizeMetrics } from '../http/routing/access.ts';
import { codeOf } from '../lib/message-text.ts';
import type { Role } from '../store/processes/process-messages.ts';

const contentType = 'text/plain; version=0.0.4; charset=utf-8';

/** A role of a process, whose metrics are served under its name. */
export interface MetricsOrigin {
  /** Id in its heartbeat. */
  readonly id: string;
  readonly role: Role;
  text(): Promise<string>;
}

/** Does nothing without the setting. @throws Error if the port is not available */
export async function serveMetrics(
  { metricsPort, metricsKey, host }: Pick<Settings, 'metricsPort' | 'metricsKey' | 'host'>,
  origins: readonly MetricsOrigin[],
): Promise<void> {
  if (metricsPort === null) return;
  const keyHash = metricsKey === null ? null : hashedForm(metricsKey);
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(500).end());
  });
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== 'GET' || request.url !== '/metrics') return response.writeHead(404).end();
    if (!isAllowed(keyHash, request)) return response.writeHead(401).end();
    const parts = await Promise.all(
      origins.map(async ({ id, role, text }) => ({ process: id, role, text: await text() })),
    );
    const merged = mergeMetrics(parts);
    return response.writeHead(200, { 'Content-Type': contentType }).end(merged);
  };
  server.listen(metricsPort, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new Error(
      `cannot listen on ${host}:${metricsPort} for metrics (${codeOf(error) ?? error}): give each process on a host its own METRICS_PORT`,
      { cause: error },
    );
  }
  // The server must not keep the process alive.
  server.unref();
}

function isAllowed(keyHash: string | null, { headers }: IncomingMessage): boolean {
  try {
    authorizeMetrics(keyHash, headers.authorization ?? '', String(headers['x-api-key'] ?? ''));
    return true;
  } catch {
    return false;
  }
}

/** Gauges that the library names like counters. It has the same values under other names too. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];
const prefix = 'millrace_';
/**
 * Sampling interval of the event loop delay; each sample wakes an idle process. The values include the interval, so alerts and
 * dashboards subtract it.
 */
const loopSampleMs = 100;

/**
 * Adds the metrics of every process to a registry, with the prefix `millrace_`: version, processor time, memory, file
 * descriptors, event loop delay.
 */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, prefix, eventLoopMonitoringPrecision: loopSampleMs });
  for (const name of misnamed) registry.removeSingleMetric(prefix + name);
  const build = new Gauge({
    name: 'millrace_build_info',
    help: 'Always 1; the label version is the version of Millrace that the process runs',
    labelNames: ['version'],
    registers: [registry],
  });
  build.set({ version: platformVersion }, 1);
}
