import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import type { Settings } from '../../config/settings/settings.ts';
import { CommandStop } from '../terminal/command-line.ts';

/** The address at which a program on this machine reaches the fronts of these settings. */
export function baseUrl({ host, port, tls }: Pick<Settings, 'host' | 'port' | 'tls'>): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const reachable = everywhere ? '127.0.0.1' : host;
  const scheme = tls === null ? 'http' : 'https';
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** The TLS options of a client; empty when the usual authorities are enough. */
export type Trust = Pick<ConnectionOptions, 'ca' | 'allowPartialTrustChain' | 'checkServerIdentity'>;

/**
 * Trusts the fronts of these settings only. A command on the same machine connects to 127.0.0.1, which
 * no certificate of a public host names. The fronts' certificate may also be signed by itself. So the command takes
 * exactly that certificate.
 * @throws CommandStop when the file cannot be read
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
    throw new CommandStop(
      `TLS_CERT: the certificate cannot be read (${error instanceof Error ? error.message : error})`,
    );
  }
}

export interface FrontAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends one GET to a front of this machine. `fetch` has no way to choose the certificate to trust. */
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
