import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import type { ViewRef } from '../../../src/contract/ids.ts';
import type { Json } from '../../../src/contract/json.ts';
import { type PublishTimes, stateAt } from '../../../src/contract/publish-times.ts';
import { waitUntilNoneIsDue } from '../../../src/verify/verification.ts';
import { until } from '../../support/until.ts';
import { type Client, NoResponseError } from '../support/client.ts';
import { viewDifferences } from '../support/compare.ts';
import { Ledger, untilVisible } from '../support/ledger.ts';
import { System } from '../support/processes/system.ts';
import { Random, testSeconds } from '../support/random.ts';
import {
  claimDifferences,
  itemDifferences,
  routeDifferences,
  typeDifferences,
} from '../support/tenant/compare.ts';
import { environments, RandomTenant } from '../support/tenant/random.ts';
import { differencesFoundByVerify } from '../support/verify.ts';

const entitiesPerSource = 30;
const writers = 3;
const roundMs = 5_000;
/** Pause of a reader, because a reader without pauses takes the processor time of what it watches. */
const restMs = 20;
const nearMs = 4_000;
const neverMs = Date.parse('2999-01-01T00:00Z');

/** A tenant with a ledger for each of its sources. */
interface Site {
  readonly tenant: RandomTenant;
  readonly ledgers: readonly Ledger[];
}

function siteOf(alias: string, random: Random): Site {
  const tenant = new RandomTenant(alias, random);
  return {
    tenant,
    ledgers: tenant.sources.map(({ id, key }) => new Ledger({ key, sourceId: id })),
  };
}

function filesOf(sites: readonly Site[]): Record<string, Json> {
  return Object.assign({}, ...sites.map(({ tenant }) => tenant.files()));
}

/** The entities that are published now. */
function worldOf({ ledgers }: Site) {
  return new Map(
    ledgers.map((ledger) => {
      const published = [...ledger.entities()].filter(
        ([, { times }]) => stateAt(times, Date.now()) === 'published',
      );
      return [ledger.sourceId, new Map(published)];
    }),
  );
}

/** Times in the past, soon, or never. Redis uses the clock of this machine. */
function randomTimes(random: Random): PublishTimes {
  const nowMs = Date.now();
  const publishAt = random.chance(0.8) ? nowMs + random.between(-1_000, nearMs) : null;
  const endMs = random.chance(0.3) ? neverMs : (publishAt ?? nowMs - 1_000) + random.between(1, nearMs);
  const unpublishAt = publishAt === null || random.chance(0.5) ? endMs : null;
  return random.chance(0.1) ? { publishAt: neverMs, unpublishAt: null } : { publishAt, unpublishAt };
}

/** Waits until all moments have passed and the fronts show their effects. */
async function untilPast(
  system: System,
  client: Client,
  sites: readonly Site[],
  round: number,
): Promise<void> {
  const times = sites.flatMap(({ ledgers }) =>
    ledgers.flatMap((ledger) => [...ledger.entities().values()].map((entity) => entity.times)),
  );
  const moments = times.flatMap((one) => [one?.publishAt ?? 0, one?.unpublishAt ?? 0]);
  const lastMs = Math.max(0, ...moments.filter((moment) => moment < neverMs));
  await until('all scheduled times have passed', () => Date.now() > lastMs);
  const store = await system.store();
  await waitUntilNoneIsDue(store);
  // A later commit in every partition becomes visible after the effects of the moments.
  for (const { ledgers } of sites) {
    const [ledger] = ledgers;
    assert.ok(ledger !== undefined);
    const ids = new Map<number, string>();
    for (let number = 0; ids.size < store.partitions.count; number += 1) {
      const originId = `after-${number}`;
      ids.set(store.partitions.ofEntity(ledger.sourceId, originId), originId);
    }
    const states = [...ids.values()].map((originId) => afterMoments(originId, round));
    await until('they are saved', () => ledger.save(client, states));
  }
}

/** An entity that no schema uses. */
function afterMoments(originId: string, round: number): SourceEntity {
  const nothing = { url: null, originParentId: null, redirects: [] };
  return { originId, type: 'after', ...nothing, properties: { round } };
}

const originIds = Array.from({ length: entitiesPerSource }, (_, number) => `e${number}`);

function targetsOf({ tenant }: Site): ViewRef[] {
  return environments.flatMap(({ id: environmentId }) =>
    tenant.sources.flatMap(({ id: sourceId }) =>
      originIds.flatMap((originId) =>
        tenant.aliases.map((alias) => ({ environmentId, sourceId, originId, alias })),
      ),
    ),
  );
}

/** Sets publication times on 40 % of the entities. */
function timed({ times: _, ...entity }: SourceEntity, random: Random): SourceEntity {
  return random.chance(0.4) ? { ...entity, times: randomTimes(random) } : entity;
}

class Round {
  #isRunning = true;
  readonly #work: Promise<void>[];

  constructor(
    private readonly random: Random,
    private readonly system: System,
    private readonly sites: readonly Site[],
    private readonly clients: readonly Client[],
  ) {
    this.#work = [
      ...Array.from({ length: writers }, (_, writer) => this.#write(writer)),
      this.#read(),
      this.#kill(),
    ];
  }

  /** Stops the writes, and waits until every killed process runs again. */
  async end(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#work);
  }

  /** Each writer has its own entities and waits for each response, so that the order of their states is known. */
  async #write(writer: number): Promise<void> {
    const { random } = this;
    const own = originIds.filter((_, index) => index % writers === writer);
    while (this.#isRunning) {
      const { tenant, ledgers } = random.pick(this.sites);
      const ledger = random.pick(ledgers);
      const chosen = random.shuffled(own).slice(0, random.between(1, 6));
      const states = chosen.map((originId) => this.#changed(tenant, ledger, originId));
      const isDelete = random.chance(0.2);
      const send = (client: Client) =>
        isDelete ? ledger.delete(client, chosen) : ledger.save(client, states);
      // A front may be killed: repeat the request until there is a response, to know what is stored.
      while (!(await send(random.pick(this.clients)))) await sleep(100);
      await sleep(random.below(60));
    }
  }

  /** Most changes touch one field. A completely new state can change the type. */
  #changed(tenant: RandomTenant, ledger: Ledger, originId: string) {
    const { random } = this;
    const [known] = ledger.possible(originId);
    const state = timed(tenant.randomEntity(originId, random), random);
    if (!known || random.chance(0.35)) return state;
    const field = random.pick(['properties', 'url', 'originParentId', 'redirects', 'times'] as const);
    if (field === 'times') return timed(known, random);
    if (field !== 'properties') return { ...known, [field]: state[field] };
    const name = random.pick(['name', 'group', 'rank', 'tags', 'next', 'note']);
    const { [name]: _gone, ...others } = known.properties;
    const value = state.properties[name];
    return { ...known, properties: value === undefined ? others : { ...others, [name]: value } };
  }

  /** Fills the caches of the fronts, so that stale responses would be noticed. */
  async #read(): Promise<void> {
    const { random } = this;
    const targets = this.sites.map(targetsOf);
    while (this.#isRunning) {
      await sleep(restMs);
      const index = random.below(this.sites.length);
      const { environmentId } = random.pick(targets[index] ?? []);
      const views = random
        .shuffled(targets[index] ?? [])
        .filter((one) => one.environmentId === environmentId);
      const key = this.sites[index]?.tenant.clientKey(environmentId) ?? '';
      const client = random.pick(this.clients);
      try {
        await viewDifferences(client, key, views.slice(0, 20), { treeOf: () => null });
        await client.get(`/v2?url=/pages/${random.below(20)}&handle=n1`, { key });
      } catch (error) {
        if (!(error instanceof NoResponseError)) throw error;
      }
    }
  }

  async #kill(): Promise<void> {
    const { random, system } = this;
    for (;;) {
      await this.#pause(random.between(500, 4_000));
      if (!this.#isRunning) return;
      const worker = random.pick(system.workers);
      const lot = random.below(10);
      if (lot < 2) {
        await system.kill(worker, 'SIGSTOP');
        await this.#pause(random.between(4_000, 7_000));
        await system.kill(worker, 'SIGCONT');
        continue;
      }
      const name = lot < 7 ? worker : random.pick(['jobs.1', ...system.fronts]);
      await system.kill(name, random.chance(0.7) ? 'SIGKILL' : 'SIGTERM');
      await this.#pause(random.between(0, 1_500));
      await system.restart(name);
    }
  }

  async #pause(ms: number): Promise<void> {
    const endMs = performance.now() + ms;
    while (this.#isRunning && performance.now() < endMs) await sleep(50);
  }
}

test('truth: everything equals a naive computation once writes and schema edits are processed', async (context) => {
  const random = Random.forTest('truth');
  const sites = [siteOf('north', random), siteOf('south', random)];
  const system = await System.start({ web: 2, workers: 2, jobs: 1, partitions: 8, files: filesOf(sites) });
  context.after(() => system.stop());
  const clients = system.fronts.map((name) => system.client(name));
  const endMs = performance.now() + testSeconds(20) * 1_000;
  for (let round = 1; round === 1 || performance.now() < endMs; round += 1) {
    const edits: string[] = [];
    const going = new Round(random, system, sites, clients);
    let generation: number | null = null;
    try {
      await sleep(random.below(roundMs));
      if (round % 2 === 0) {
        for (let edit = random.between(1, 3); edit > 0; edit -= 1) {
          const { tenant } = random.pick(sites);
          edits.push(`${tenant.alias}: ${tenant.edit()}`);
        }
        generation = await system.publish(filesOf(sites));
      }
      await sleep(random.below(roundMs));
    } finally {
      await going.end();
    }
    await system.ready();
    if (generation !== null) await system.rebuilt(generation);
    const [client] = clients;
    assert.ok(client !== undefined);
    await untilPast(system, client, sites, round);
    const differences: string[] = [];
    for (const site of sites) {
      const keys = environments.map(({ id }) => site.tenant.clientKey(id));
      const versions = site.ledgers.flatMap((ledger) => ledger.takeVersions());
      for (const client of clients) await untilVisible(client, keys[0] ?? '', versions);
      differences.push(...(await siteDifferences(site, clients)));
    }
    const about = `round ${round}${edits.length > 0 ? `, after ${edits.join(', ')}` : ''}`;
    const found = await differencesFoundByVerify(system);
    assert.deepEqual({ differences, found }, { differences: [], found: [] }, `seed ${random.seed}, ${about}`);
    context.diagnostic(
      `${about}: ${sites.flatMap(({ ledgers }) => ledgers).reduce((sum, { answered }) => sum + answered, 0)} writes`,
    );
  }
});

async function siteDifferences(site: Site, clients: readonly Client[]): Promise<string[]> {
  const { tenant } = site;
  const expected = tenant.expected(worldOf(site));
  const targets = targetsOf(site);
  const differences: string[] = [];
  for (const [index, client] of clients.entries()) {
    for (const { id } of environments) {
      const access = { client, key: tenant.clientKey(id), environmentId: id };
      const views = targets.filter(({ environmentId }) => environmentId === id);
      const found = [
        ...(await viewDifferences(client, access.key, views, expected)),
        ...(await claimDifferences(access, expected)),
        ...(await routeDifferences(access, expected)),
        ...(tenant.hasIndex ? await itemDifferences(access, expected) : []),
        ...(tenant.isAutoIndexed ? await typeDifferences(access, expected) : []),
      ];
      differences.push(...found.map((text) => `${tenant.alias} at front ${index + 1}: ${text}`));
    }
  }
  return differences;
}
