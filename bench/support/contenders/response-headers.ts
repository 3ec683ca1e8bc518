/** The heads of our front's answers, for a contender that sends the same. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { BenchContext } from '../bench.ts';
import { pagesTenant } from '../data/pages.ts';
import { clientKeyOf } from '../data/tenant.ts';
import { deliveryPath } from '../load/client.ts';
import { host, ports } from '../ports.ts';

/** URL of a page -> its headers. */
export type AnswerHeads = Readonly<Record<string, readonly (readonly [name: string, value: string])[]>>;

/** Headers that uWebSockets.js writes by itself, and headers that only fetch causes. */
const unsaid = new Set(['content-length', 'date', 'uwebsockets', 'connection', 'keep-alive']);

/** @returns the file that they were written to */
export async function writeAnswerHeads(context: BenchContext, urls: readonly string[]): Promise<string> {
  const heads = await Promise.all(urls.map(async (url) => [url, await headOf(url)] as const));
  const file = path.join(context.folder, 'answer-heads.json');
  writeFileSync(file, JSON.stringify(Object.fromEntries(heads)));
  return file;
}

async function headOf(url: string): Promise<[string, string][]> {
  const response = await fetch(`http://${host}:${ports.millrace}${deliveryPath(url)}`, {
    headers: { 'X-Api-Key': clientKeyOf(pagesTenant), 'Accept-Encoding': 'identity' },
  });
  await response.arrayBuffer();
  return [...response.headers].filter(([name]) => !unsaid.has(name));
}
