/** Where a worker listens on TCP, and the address that it announces. */
import { hostname, networkInterfaces } from 'node:os';

export interface ListenAddress {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** What fronts connect to; null: as `announcedHost` finds it, and the port that it listens on. */
  readonly announced: { readonly host: string; readonly port: number | null } | null;
}

/** Only processes of the same machine get there. */
export const ownMachineOnly: ListenAddress = { host: '127.0.0.1', port: 0, announced: null };

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}

/** The host to announce for one that is listened on. For all addresses of a machine, it is the first that others can reach. */
export function announcedHost(host: string): string {
  if (host !== '0.0.0.0' && host !== '::') return host;
  const found = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, scopeid }) => !internal && (scopeid ?? 0) === 0);
  const best = found.find(({ family }) => family === 'IPv4') ?? (host === '::' ? found[0] : undefined);
  return best?.address ?? hostname();
}
