import type { Settings } from '../config/settings.ts';

/** Where a program on this machine reaches the fronts of these settings. */
export function baseUrl({ host, port }: Pick<Settings, 'host' | 'port'>): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const reachable = everywhere ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
