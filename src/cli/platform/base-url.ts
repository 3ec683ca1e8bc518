import type { Settings } from '../../config/settings/settings.ts';

/** The address at which a program on this machine reaches the fronts of these settings. */
export function baseUrl({ host, port, tls }: Pick<Settings, 'host' | 'port' | 'tls'>): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const reachable = everywhere ? '127.0.0.1' : host;
  const scheme = tls === null ? 'http' : 'https';
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
