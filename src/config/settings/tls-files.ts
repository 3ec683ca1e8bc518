import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { SettingsError, type TlsFiles } from './settings.ts';

/**
 * Makes sure that a front can speak HTTPS with these files; uWebSockets.js itself would only say that it cannot.
 * @throws SettingsError with one line that names the file and what is wrong with it
 */
export function checkTlsFiles({ certFile, keyFile }: TlsFiles): void {
  const cert = readPem('TLS_CERT', certFile);
  const key = readPem('TLS_KEY', keyFile);
  try {
    createSecureContext({ cert });
  } catch (error) {
    throw new SettingsError(`TLS_CERT: ${certFile} holds no certificate in PEM form (${reasonOf(error)})`);
  }
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new SettingsError(
      `TLS_KEY: ${keyFile} does not hold the private key of the certificate in ${certFile}, ` +
        `in PEM form and without a passphrase (${reasonOf(error)})`,
    );
  }
}

function readPem(name: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new SettingsError(`${name}: the file cannot be read (${reasonOf(error)})`);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
