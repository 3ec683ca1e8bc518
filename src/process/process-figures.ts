/** The metrics that every process has: its version, processor time, memory, file descriptors, the delay of its event loop. */
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import { platformVersion } from '../config/settings/platform-version.ts';

/** Gauges that the library names like counters. It gives the same figures under other names too. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];
const prefix = 'millrace_';
/**
 * How often the delay of the event loop is looked at. Each look wakes an idle process. The values hold the interval, so
 * alerts and dashboards subtract it.
 */
const loopLookMs = 100;

/** Adds the metrics to a registry, under names that begin with `millrace_`. */
export function collectProcessFigures(registry: Registry): void {
  collectDefaultMetrics({ register: registry, prefix, eventLoopMonitoringPrecision: loopLookMs });
  for (const name of misnamed) registry.removeSingleMetric(prefix + name);
  const build = new Gauge({
    name: 'millrace_build_info',
    help: 'Always 1; the label version is the version of Millrace that the process runs',
    labelNames: ['version'],
    registers: [registry],
  });
  build.set({ version: platformVersion }, 1);
}
