/** What every process tells of itself: processor time, memory, file descriptors, how late its event loop is. */
import { collectDefaultMetrics, type Registry } from 'prom-client';

/** Gauges that the library calls like counters. The figures are told under other names beside them. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];
const prefix = 'millrace_';

export function collectProcessFigures(registry: Registry): void {
  collectDefaultMetrics({ register: registry, prefix });
  for (const name of misnamed) registry.removeSingleMetric(prefix + name);
}
