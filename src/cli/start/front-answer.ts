import http from 'node:http';
import https from 'node:https';
import type { Trust } from '../platform/own-certificate.ts';

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
