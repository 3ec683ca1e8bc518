/**
 * What HEALTHCHECK runs: exit code 0 when the process of this container responds, with any status, because METRICS_KEY may
 * protect the metrics. `/health/ready` of a front says more.
 */
const { METRICS_PORT = '9100' } = process.env;

try {
  await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`, { signal: AbortSignal.timeout(4_000) });
} catch {
  console.log(`nothing responds on port ${METRICS_PORT} (METRICS_PORT)`);
  process.exitCode = 1;
}
