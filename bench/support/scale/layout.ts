/** The number of fronts and workers of a platform, and its content before it is measured. */

import { setTimeout as sleep } from 'node:timers/promises';
import { parseGroup } from '../../../src/query/protocol/shard-request.ts';
import { groupCountFor } from '../../../src/query/worker/copies/shard-copies.ts';
import { liveProcesses } from '../../../src/store/processes/registry.ts';
import { openStore } from '../../../src/store/store.ts';
import type { BenchContext } from '../bench.ts';
import { citiesTenant } from '../data/cities-tenant.ts';
import { type ItemSet, itemEntity, itemIndex, itemsTenant } from '../data/items.ts';
import type { Entity } from '../data/sets.ts';
import type { BenchTenant } from '../data/tenant.ts';
import { Client } from '../load/client.ts';
import { System } from '../platform/system.ts';
import { ports } from '../ports.ts';
import { checkAnswers, ourContender, type QueryContender, requestFileOf } from '../query/contenders.ts';
import { queryKinds } from '../query/kinds.ts';
import { interleaved, type QueryMix } from '../query/mix.ts';

export interface Layout {
  readonly name: string;
  /** Of each kind, fronts and workers. */
  readonly processes: number;
  /** Platforms that share nothing, over which the processes are spread; absent: one. */
  readonly platforms?: number;
  readonly shardCopies: number;
}

/** What all platforms have in common. */
export interface ScaleData {
  readonly items: ItemSet;
  readonly mix: QueryMix;
  /** Loaded into another tenant before anything is limited. */
  readonly warmUp: readonly Entity[];
}

/** A platform that holds the items and has been warmed up. */
export interface ScaledPlatform {
  readonly system: System;
  readonly contender: QueryContender;
  /** All differing queries. */
  readonly requestFile: string;
  readonly queryCount: number;
}

const settledEntities = 300;
const pollMs = 100;
const warmUpTenant: BenchTenant = { ...citiesTenant, alias: 'warm-up' };

/** Each round of ingest has a separate tenant, so that every entity is new. */
export function ingestTenant(round: number): BenchTenant {
  return { ...citiesTenant, alias: `cities-${round}` };
}

/** @throws Error when a platform answers wrongly */
export async function startScaled(
  context: BenchContext,
  { processes, platforms = 1, shardCopies }: Layout,
  data: ScaleData,
): Promise<ScaledPlatform[]> {
  const started: ScaledPlatform[] = [];
  const each = { processes: processes / platforms, shardCopies };
  for (let number = 0; number < platforms; number += 1)
    started.push(await startPlatform(context, ports.millrace + number * each.processes, each, data));
  return started;
}

async function startPlatform(
  context: BenchContext,
  firstPort: number,
  { processes, shardCopies }: Pick<Layout, 'processes' | 'shardCopies'>,
  { items, mix, warmUp }: ScaleData,
): Promise<ScaledPlatform> {
  const tenants = Array.from({ length: context.rounds }, (_, round) => ingestTenant(round));
  const system = await System.start(context, {
    tenants: [itemsTenant, warmUpTenant, ...tenants],
    env: { SHARD_COPIES: String(shardCopies) },
    firstPort,
    fronts: processes,
    workers: processes,
  });
  await untilDivided(context, system, { processes, shardCopies });
  const client = new Client(context, system.baseUrl, itemsTenant);
  await client.importEntities(items.items.map(itemEntity));
  await client.waitForItems(itemIndex, items.items.length);
  await importOverAll(context, system, warmUpTenant, warmUp);
  const contender = ourContender(client);
  await checkAnswers(context, contender, mix.checked);
  if (contender.kinds.size < queryKinds.length) throw new Error('the platform answers wrongly');
  const differing = interleaved([...mix.differing.values()]);
  const requestFile = requestFileOf(context, contender, 'scale', differing);
  return { system, contender, requestFile, queryCount: differing.length };
}

/** Waits until the partitions, and the groups of shard copies, are spread evenly over the workers. */
async function untilDivided(
  { signal }: BenchContext,
  system: System,
  { processes, shardCopies }: Pick<Layout, 'processes' | 'shardCopies'>,
): Promise<void> {
  const store = await openStore(system.storeOptions);
  const { count } = store.partitions;
  const groups = groupCountFor(processes, shardCopies, count);
  const isDivided = async () => {
    const workers = (await liveProcesses(store)).filter(({ role }) => role === 'worker');
    const isEven = workers.every(
      ({ partitions, shardCopies: held }) =>
        partitions.length <= Math.ceil(count / processes) &&
        (shardCopies === 1 || held?.ready.every((group) => parseGroup(group)?.of === groups) === true),
    );
    return workers.length === processes && isEven;
  };
  try {
    while (!(await isDivided())) await sleep(pollMs, undefined, { signal });
  } finally {
    await store.close();
  }
}

/** Imports over all fronts concurrently, each a part of the entities, and waits until all outputs are visible. */
export async function importOverAll(
  context: BenchContext,
  system: System,
  tenant: BenchTenant,
  entities: readonly Entity[],
): Promise<void> {
  const clients = system.baseUrls.map((url) => new Client(context, url, tenant));
  await Promise.all(
    clients.map((client, number) =>
      client.importEntities(entities.filter((_, index) => index % clients.length === number)),
    ),
  );
  await clients[0]?.settle(entities.slice(-settledEntities));
}
