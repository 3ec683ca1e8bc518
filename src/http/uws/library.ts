/**
 * The HTTP library. It reads its limit of a request head when it is loaded, and on an unsupported platform the process must
 * report that first. So it is loaded by a call, after the imports above: in a bundle, an `import` of a package would run before
 * all other lines.
 */
import './head-limit.ts';
import type { TemplatedApp } from 'uWebSockets.js';
import { createRequire } from 'node:module';
import type { TlsFiles } from '../../config/settings/settings.ts';

const library: typeof import('uWebSockets.js') = createRequire(import.meta.url)('uWebSockets.js');

export default library;

/** Creates the application of the library. */
export function appFor(tls: TlsFiles | null): TemplatedApp {
  return tls === null
    ? library.App()
    : library.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile });
}

/** A path as a pattern of uWebSockets.js: `/a/:b` for `/a/{b}`. */
export function uwsPattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}
