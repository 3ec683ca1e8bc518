import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import type { Settings } from '../../config/settings/settings.ts';
import { reasonOf } from '../../lib/message-text.ts';
import { CommandStop } from '../terminal/command-line.ts';

/** The base URL at which programs on this machine reach the fronts of these settings. */
export function baseUrl({ host, port, tls }: Pick<Settings, 'host' | 'port' | 'tls'>): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const reachable = everywhere ? '127.0.0.1' : host;
  const scheme = tls === null ? 'http' : 'https';
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** TLS options of a client; empty to use the default certificate authorities. */
export type Trust = Pick<ConnectionOptions, 'ca' | 'allowPartialTrustChain' | 'checkServerIdentity'>;

/**
 * Trusts only the certificate of the fronts of these settings. A command on the same machine connects to 127.0.0.1, which is
 * not in a certificate of a public host, and the certificate may be self-signed. So the command accepts exactly this one.
 * @throws CommandStop if the file cannot be read
 */
export function ownTrust({ tls }: Pick<Settings, 'tls'>): Trust {
  if (tls === null) return {};
  const { pem, fingerprint } = readCertificate(tls.certFile);
  return {
    ca: pem,
    allowPartialTrustChain: true,
    checkServerIdentity: (_host, { fingerprint256 }) =>
      fingerprint256 === fingerprint
        ? undefined
        : new Error('the server uses a certificate other than TLS_CERT'),
  };
}

function readCertificate(certFile: string): { pem: Buffer; fingerprint: string } {
  try {
    const pem = readFileSync(certFile);
    return { pem, fingerprint: new X509Certificate(pem).fingerprint256 };
  } catch (error) {
    throw new CommandStop(`TLS_CERT: the certificate cannot be read (${reasonOf(error)})`);
  }
}

export interface FrontAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends a GET to a front on this machine. `fetch` has no option for the trusted certificate. */
export function askFront(
  url: string,
  trust: Trust,
  headers: Readonly<Record<string, string>> = {},
  timeoutMs = 30_000,
): Promise<FrontAnswer> {
  const get = url.startsWith('https:') ? https.get : http.get;
  return new Promise((resolve, reject) => {
    const request = get(url, { ...trust, agent: false, headers, timeout: timeoutMs }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on('timeout', () => request.destroy(new Error(`no response within ${timeoutMs / 1000} s`)));
    request.on('error', reject);
  });
}
