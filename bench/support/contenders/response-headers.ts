/** Stores our front's response headers, for a contender that sends the same. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { BenchContext } from '../bench.ts';
import { pagesTenant } from '../data/pages.ts';
import { clientKeyOf } from '../data/tenant.ts';
import { deliveryPath } from '../load/client.ts';
import { host, ports } from '../ports.ts';

/** URL of a page -> its headers. */
export type ResponseHeaders = Readonly<Record<string, readonly (readonly [name: string, value: string])[]>>;

/** Headers that uWebSockets.js adds itself, and headers that only appear because of fetch. */
const omitted = new Set(['content-length', 'date', 'uwebsockets', 'connection', 'keep-alive']);

/** @returns the file with the headers */
export async function writeResponseHeaders(context: BenchContext, urls: readonly string[]): Promise<string> {
  const headers = await Promise.all(urls.map(async (url) => [url, await headersOf(url)] as const));
  const file = path.join(context.folder, 'response-headers.json');
  writeFileSync(file, JSON.stringify(Object.fromEntries(headers)));
  return file;
}

async function headersOf(url: string): Promise<[string, string][]> {
  const response = await fetch(`http://${host}:${ports.millrace}${deliveryPath(url)}`, {
    headers: { 'X-Api-Key': clientKeyOf(pagesTenant), 'Accept-Encoding': 'identity' },
  });
  await response.arrayBuffer();
  return [...response.headers].filter(([name]) => !omitted.has(name));
}
