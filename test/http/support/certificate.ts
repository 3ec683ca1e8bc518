import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  readonly pem: string;
}

/** A self-signed certificate, created with openssl and deleted after the tests of the file. */
export async function selfSigned(alternativeName: string): Promise<Certificate> {
  const folder = await mkdtemp(path.join(tmpdir(), 'millrace-tls-'));
  after(() => rm(folder, { recursive: true, force: true }));
  const [certFile, keyFile] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test';
  await run('openssl', [
    ...words.split(' '),
    ...['-addext', `subjectAltName=${alternativeName}`, '-keyout', keyFile, '-out', certFile],
  ]);
  return { certFile, keyFile, pem: await readFile(certFile, 'utf8') };
}
