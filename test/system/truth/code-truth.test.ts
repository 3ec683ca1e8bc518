/** The same random mappings in JSON and in code: their results must be equal, byte for byte. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatViewId } from '../../../src/contract/ids.ts';
import type { Json } from '../../../src/contract/json.ts';
import { readRuntimeLookups } from '../../../src/store/configuration/layouts.ts';
import { activeGeneration } from '../../../src/store/configuration/published-configuration.ts';
import { until } from '../../support/until.ts';
import type { Client } from '../support/client.ts';
import { viewDifferences } from '../support/compare.ts';
import { Ledger, untilVisible } from '../support/ledger.ts';
import { childrenOf } from '../support/processes/children.ts';
import { System } from '../support/processes/system.ts';
import { Random, testSeconds } from '../support/random.ts';
import { claimDifferences, itemDifferences, routeDifferences } from '../support/tenant/compare.ts';
import { environments, type LanguageOf, RandomTenant } from '../support/tenant/random.ts';
import { differencesFoundByVerify } from '../support/verify.ts';

const originIds = Array.from({ length: 20 }, (_, number) => `e${number}`);
const roundMs = 4_000;

/** One tenant, in JSON or in code, with the ledgers of its sources. */
class Site {
  readonly ledgers: readonly Ledger[];

  constructor(
    readonly tenant: RandomTenant,
    private readonly languageOf: LanguageOf | undefined,
  ) {
    this.ledgers = tenant.sources.map(({ id, key }) => new Ledger({ key, sourceId: id }));
  }

  files(): Record<string, Json> {
    return this.tenant.files(this.languageOf);
  }

  get world() {
    return new Map(this.ledgers.map((ledger) => [ledger.sourceId, ledger.entities()]));
  }

  targets(environmentId: string) {
    return this.tenant.sources.flatMap(({ id: sourceId }) =>
      originIds.flatMap((originId) =>
        this.tenant.aliases.map((alias) => ({ environmentId, sourceId, originId, alias })),
      ),
    );
  }
}

/** Mostly code, mixed with some JSON. */
function mixed(random: Random): LanguageOf {
  const chosen = new Map<string, ReturnType<LanguageOf>>();
  return (alias) => {
    const language = chosen.get(alias) ?? random.pick(['js', 'ts', 'js', 'ts', 'json'] as const);
    chosen.set(alias, language);
    return language;
  };
}

test('code truth: a mapping has the same results in JSON and in code, whichever processes are killed', async (context) => {
  const random = Random.forTest('code truth');
  const tenant = new RandomTenant('plain', random);
  const plain = new Site(tenant, undefined);
  const code = new Site(tenant.twin('coded'), mixed(random));
  const filesOf = () => ({ ...plain.files(), ...code.files() });
  const system = await System.start({ web: 1, workers: 2, jobs: 1, partitions: 4, files: filesOf() });
  context.after(() => system.stop());
  const client = system.client();
  const endMs = performance.now() + testSeconds(1) * 1_000;
  for (let round = 1; round === 1 || performance.now() < endMs; round += 1) {
    const edits = round === 1 ? [] : Array.from({ length: random.between(0, 3) }, () => tenant.edit());
    if (edits.length > 0) await system.publish(filesOf());
    await writeAndKill(random, system, client, [plain, code]);
    await system.ready();
    await settled(system);
    const key = plain.tenant.clientKey(environments[0].id);
    await untilVisible(
      client,
      key,
      [plain, code].flatMap(({ ledgers }) => ledgers.flatMap((ledger) => ledger.takeVersions())),
    );
    await settled(system);
    const differences = await differencesBetween(client, plain, code);
    const found = await differencesFoundByVerify(system);
    const about = `seed ${random.seed}, round ${round}, after ${edits.join(', ') || 'no edit'}`;
    assert.deepEqual({ differences, found }, { differences: [], found: [] }, about);
    context.diagnostic(
      `${about}: ${code.ledgers.reduce((sum, { answered }) => sum + answered, 0)} writes each`,
    );
  }
});

/** Uses one writer, so that both tenants see all changes in the same order. */
async function writeAndKill(
  random: Random,
  system: System,
  client: Client,
  sites: readonly [Site, Site],
): Promise<void> {
  let isRunning = true;
  const kills = killing(random, system, () => isRunning);
  const endMs = performance.now() + roundMs;
  try {
    while (performance.now() < endMs) {
      const source = random.below(sites[0].ledgers.length);
      const chosen = random.shuffled(originIds).slice(0, random.between(1, 5));
      const states = chosen.map((originId) => sites[0].tenant.randomEntity(originId, random));
      const isDelete = random.chance(0.2);
      for (const { ledgers } of sites) {
        const ledger = ledgers[source];
        assert.ok(ledger !== undefined);
        while (!(await (isDelete ? ledger.delete(client, chosen) : ledger.save(client, states))))
          await sleep(100);
      }
      await sleep(random.below(60));
    }
  } finally {
    isRunning = false;
    await kills;
  }
}

/** Stops or kills workers, or kills the processes in which they run code. */
async function killing(random: Random, system: System, isRunning: () => boolean): Promise<void> {
  for (;;) {
    await sleep(random.between(200, 1_200));
    if (!isRunning()) return;
    const worker = random.pick(system.workers);
    if (random.chance(0.6)) {
      for (const pid of childrenOf(system.process(worker).pid, 'sandbox/child')) kill(pid);
      continue;
    }
    await system.kill(worker, random.chance(0.7) ? 'SIGKILL' : 'SIGTERM');
    await system.restart(worker);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already exited.
  }
}

/** Waits until all lookups that code requested are part of the configuration, and everything is rebuilt with it. */
async function settled(system: System): Promise<void> {
  const store = await system.store();
  await until(
    'all lookups have their indexes',
    async () => {
      if ((await readRuntimeLookups(store)).size > 0) return false;
      const generation = await activeGeneration(store);
      await system.rebuilt(generation);
      return (await readRuntimeLookups(store)).size === 0 && (await activeGeneration(store)) === generation;
    },
    60_000,
  );
}

async function differencesBetween(client: Client, plain: Site, code: Site): Promise<string[]> {
  const differences: string[] = [];
  for (const { id: environmentId } of environments) {
    const [first, second] = [plain, code].map(({ tenant }) => tenant.clientKey(environmentId));
    const textsOf = (path: string, body: Json | null) =>
      Promise.all([first, second].map((key = '') => textOf(client, key, path, body)));
    const targets = plain.targets(environmentId);
    for (let at = 0; at < targets.length; at += 40) {
      const body = { ids: targets.slice(at, at + 40).map(formatViewId) };
      const [views, codeViews] = await textsOf('/v2', body);
      if (views !== codeViews) differences.push(`views are ${codeViews}, in JSON ${views}`.slice(0, 3_000));
    }
    // Claim times differ, because the writes of the two tenants are sequential.
    const [routes, codeRoutes] = (await textsOf('/routes/v2', null)).map(routesIn);
    if (routes !== codeRoutes) differences.push(`routes are ${codeRoutes}, in JSON ${routes}`);
    for (const site of [plain, code]) {
      const expected = site.tenant.expected(site.world);
      const access = { client, key: site.tenant.clientKey(environmentId), environmentId };
      const found = [
        ...(await viewDifferences(client, access.key, targets, expected)),
        ...(await claimDifferences(access, expected)),
        ...(await routeDifferences(access, expected)),
        ...(site.tenant.hasIndex ? await itemDifferences(access, expected) : []),
      ];
      differences.push(...found.map((text) => `${site.tenant.alias}: ${text}`));
    }
  }
  return differences.slice(0, 10);
}

async function textOf(client: Client, key: string, path: string, body: Json | null): Promise<string> {
  const answer = body === null ? await client.get(path, { key }) : await client.post(path, body, { key });
  assert.equal(answer.status, 200, answer.text);
  return answer.text;
}

/** URLs, each with whether it redirects. */
function routesIn(text: string): string {
  const { results }: { results: { url: string; redirect: string | null }[] } = JSON.parse(text);
  return results.map(({ url, redirect }) => `${url}${redirect === null ? '' : ' redirects'}`).join(', ');
}
