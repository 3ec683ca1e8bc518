/** Shared by the delivery benchmarks: the platform with its pages, the same pages as files, and the load. */
import path from 'node:path';
import { CommandStop } from '../../../src/cli/terminal/command-line.ts';
import type { BenchContext } from '../bench.ts';
import { writeStaticFiles } from '../contenders/static-files.ts';
import { articleCount, articleUrl, pageEntities, pagesTenant } from '../data/pages.ts';
import { clientKeyOf } from '../data/tenant.ts';
import { Client, deliveryPath } from '../load/client.ts';
import { type HttpRequest, type LoadOptions, type LoadResult, load, prepareRequests } from '../load/wrk.ts';
import { System, type SystemOptions } from '../platform/system.ts';
import { host, ports } from '../ports.ts';

export const connections = 32;

/** Starts a platform that delivers every page. */
export async function startPages(
  context: BenchContext,
  options: Omit<SystemOptions, 'tenants'>,
): Promise<{ client: Client; system: System }> {
  const system = await System.start(context, { ...options, tenants: [pagesTenant] });
  const client = new Client(context, system.baseUrl, pagesTenant);
  const entities = [...pageEntities()];
  await client.importEntities(entities);
  await client.settle(entities.slice(-articleCount));
  return { client, system };
}

/** The URLs of all pages in scattered order. A smoke run has fewer. */
export function pageUrls({ quick }: BenchContext): string[] {
  const count = quick ? 100 : articleCount;
  return Array.from({ length: count }, (_, index) => articleUrl((index * 617) % articleCount));
}

/** Writes the delivered pages as files, and the requests for the platform and for the files. */
export async function writePages(
  context: BenchContext,
  client: Client,
  urls: readonly string[],
): Promise<{ folder: string; requestFile: string; staticFile: string }> {
  const pages = new Map<string, string>();
  for (const url of urls) pages.set(url, await client.deliver(url));
  const folder = path.join(context.folder, 'static');
  writeStaticFiles(folder, pages);
  const bytes = [...pages.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  context.say(`${pages.size} pages of ${Math.round(bytes / pages.size)} bytes`);
  const get = (target: string, headers: Record<string, string>): HttpRequest => ({
    method: 'GET',
    path: target,
    headers,
  });
  return {
    folder,
    requestFile: prepareRequests(
      context,
      'millrace',
      urls.map((url) => get(deliveryPath(url), { 'X-Api-Key': clientKeyOf(pagesTenant) })),
    ),
    staticFile: prepareRequests(
      context,
      'static',
      urls.map((url) => get(url, {})),
    ),
  };
}

export interface DeliveryLoad extends Pick<LoadOptions, 'connections' | 'seconds'> {
  readonly warmUpSeconds: number;
}

export function deliveryLoad({ quick }: BenchContext): DeliveryLoad {
  return quick
    ? { connections, seconds: 1, warmUpSeconds: 0 }
    : { connections, seconds: 5, warmUpSeconds: 1 };
}

/** Checks that every contender sends the same bytes for every page. @throws CommandStop naming the first that differs */
export async function requireSamePages(
  client: Client,
  urls: readonly string[],
  others: readonly { name: string; port: number; pathOf?: (url: string) => string }[],
): Promise<void> {
  for (const url of urls) {
    const ours = await client.deliver(url);
    for (const { name, port, pathOf = (path: string) => path } of others) {
      if (port === ports.millrace) continue;
      const theirs = await (await fetch(`http://${host}:${port}${pathOf(url)}`)).text();
      if (theirs !== ours) throw new CommandStop(`${name} answers ${url} with other bytes`);
    }
  }
}

/** Measures a load, after a warm-up for caches and JIT compilers. */
export async function measureLoad(
  wrk: string,
  { warmUpSeconds, ...options }: LoadOptions & DeliveryLoad,
): Promise<LoadResult> {
  if (warmUpSeconds > 0) await load(wrk, { ...options, seconds: warmUpSeconds });
  return load(wrk, options);
}
