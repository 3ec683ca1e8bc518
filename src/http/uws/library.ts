/**
 * The HTTP library. It reads its limit of a request head when it is loaded, and where it cannot run here the process must
 * be able to say so first. So it is loaded by a call, in its place among the imports: what a bundled module imports from
 * packages is loaded before any of its own lines runs.
 */
import './head-limit.ts';
import type { TemplatedApp } from 'uWebSockets.js';
import { createRequire } from 'node:module';
import type { TlsFiles } from '../../config/settings/settings.ts';

const library: typeof import('uWebSockets.js') = createRequire(import.meta.url)('uWebSockets.js');

export default library;

/** The library's application, and paths as it writes them. */
export function appFor(tls: TlsFiles | null): TemplatedApp {
  return tls === null
    ? library.App()
    : library.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile });
}

/** `/a/{b}` as uWebSockets.js writes it: `/a/:b`. */
export function uwsPattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}
