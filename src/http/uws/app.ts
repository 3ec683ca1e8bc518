/** The library's application, and paths as it writes them. */
import type { TemplatedApp } from 'uWebSockets.js';
import type { TlsFiles } from '../../config/settings/settings.ts';
import uws from './library.ts';

export function appFor(tls: TlsFiles | null): TemplatedApp {
  return tls === null ? uws.App() : uws.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile });
}

/** `/a/{b}` as uWebSockets.js writes it: `/a/:b`. */
export function uwsPattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}
