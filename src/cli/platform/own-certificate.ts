import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { Settings } from '../../config/settings/settings.ts';
import { CommandStop } from '../terminal/command-stop.ts';

/** The TLS options of a client; empty when the usual authorities are enough. */
export type Trust = Pick<ConnectionOptions, 'ca' | 'allowPartialTrustChain' | 'checkServerIdentity'>;

/**
 * Trust in the fronts of these settings and in nobody else. A command on the same machine connects to 127.0.0.1, which
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
