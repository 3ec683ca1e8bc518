/** A configuration that needs other lookup indexes: no list is incomplete while they are filled. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { loadConfiguration } from '../../src/config/documents/load.ts';
import type { SourceEntity } from '../../src/contract/entity.ts';
import type { Json } from '../../src/contract/json.ts';
import { readPublished } from '../../src/store/configuration/published-configuration.ts';
import type { Store } from '../../src/store/store.ts';
import type { Finding } from '../../src/verify/finding.ts';
import { verify } from '../../src/verify/verification.ts';
import { TestRedis } from '../support/redis.ts';
import { Platform, page, siteFiles } from './support/platform.ts';

const redisUrl = (await TestRedis.start()).url;

const memberCount = 500;
const teams = 4;
const perTeam = memberCount / teams;

function member(number: number, name: string): SourceEntity {
  const team = `t${number % teams}`;
  return page(`m${number}`, { name, team, club: team }, { type: 'member' });
}

function list(team: number, suffix = ''): SourceEntity {
  return page(
    `list-${team}${suffix}`,
    { name: `List ${team}`, team: `t${team}`, club: `c${team}` },
    { type: 'list' },
  );
}

/** Lists the members of a team, found by `team` or by `club`, which always agree. */
function listSchema(filter: string): Json {
  return {
    triggers: { cms: ['list'] },
    route: { handles: ['{originId}', '{originId} of {p.club}'] },
    properties: {
      members: { type: 'array', input: { $lookup: { filter } }, items: '{item.p.name}' },
    },
  };
}

const memberSchema = { triggers: { cms: ['member'] }, properties: { name: '{p.name}' } };

function files(changing: string | null): Readonly<Record<string, Json>> {
  const schemas: Record<string, Json> = {
    member: memberSchema,
    steady: listSchema(`type eq 'member' and properties.team eq {p.team}`),
  };
  if (changing !== null) schemas.changing = listSchema(changing);
  return siteFiles({ schemas });
}

const byTeam = `properties.team eq {p.team} and type eq 'member'`;
const byClub = `properties.club eq {p.team}`;

function membersOf(view: Json): Json[] | null {
  if (view === null) return null;
  assert.ok(typeof view === 'object' && !Array.isArray(view));
  assert.ok(Array.isArray(view.members));
  return view.members;
}

/** Reads all lists repeatedly; each is complete, or does not exist yet. */
class Reader {
  reads = 0;
  readonly short: string[] = [];
  #isOver = false;
  readonly #running: Promise<void>;

  constructor(private readonly platform: Platform) {
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      for (const alias of ['steady', 'changing']) {
        for (let team = 0; team < teams; team += 1) await this.#read(alias, `list-${team}`);
      }
      await this.#read('changing', 'list-0-late');
      await setTimeout(5);
    }
  }

  async #read(alias: string, originId: string): Promise<void> {
    const members = membersOf(await this.platform.view(alias, originId));
    this.reads += 1;
    if (members !== null && members.length !== perTeam) {
      this.short.push(`${alias} of ${originId} has ${members.length} of ${perTeam}`);
    }
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#running;
    assert.ok(this.reads > 100, `only ${this.reads} reads`);
    assert.deepEqual(this.short, []);
  }
}

test('layout change: no list is incomplete while a changed schema fills other lookup indexes, and lists keep following their members', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  await platform.publish(files(byTeam));
  await platform.startWorker();
  await platform.startWorker();
  await platform.startJobs();
  const names = new Map(Array.from({ length: memberCount }, (_, number) => [number, `n${number}`]));
  await platform.ingest([...names].map(([number, name]) => member(number, name)));
  await platform.ingest(Array.from({ length: teams }, (_, team) => list(team)));
  await platform.settle();
  const expected = (team: number) =>
    [...names]
      .filter(([number]) => number % teams === team)
      .sort(([a], [b]) => (`m${a}` < `m${b}` ? -1 : 1))
      .map(([, name]) => name);
  const reader = new Reader(platform);
  for (const filter of [byClub, byTeam]) {
    let isRebuilt = false;
    const generation = await platform.publish(files(filter));
    const rebuilding = platform.rebuilt(generation, 60_000).then(() => {
      isRebuilt = true;
    });
    let changes = 0;
    // Changes of members request all lists repeatedly, and lists are added while indexes are being filled.
    while (!isRebuilt) {
      const number = (changes * 7) % memberCount;
      names.set(number, `n${number} ${generation}.${changes}`);
      await platform.ingest([member(number, names.get(number) ?? '')]);
      if (changes === 5) await platform.ingest([list(0, '-late')]);
      if (changes === 8) await platform.ingest([withClub(list(1), `${generation}`)]);
      await platform.settle();
      assert.deepEqual(
        membersOf(await platform.view('steady', `list-${number % teams}`)),
        expected(number % teams),
      );
      changes += 1;
    }
    await rebuilding;
    await platform.settle();
    for (let team = 0; team < teams; team += 1) {
      for (const alias of ['steady', 'changing']) {
        assert.deepEqual(membersOf(await platform.view(alias, `list-${team}`)), expected(team), alias);
      }
    }
    assert.deepEqual(membersOf(await platform.view('changing', 'list-0-late')), expected(0));
    assert.deepEqual(await differences(platform.store), []);
    await platform.remove(['list-0-late']);
    await platform.settle();
    assert.equal((await storedLayouts(platform)).size, 1, 'the old index is gone');
    context.diagnostic(`${changes} changes while generation ${generation} was rebuilt`);
  }
  await reader.end();
});

/** Changes the claims of the list, and nothing that its view shows. */
function withClub(entity: SourceEntity, club: string): SourceEntity {
  return { ...entity, properties: { ...entity.properties, club } };
}

async function differences(store: Store): Promise<Finding[]> {
  const published = await readPublished(store);
  const loaded = loadConfiguration(published?.documents ?? new Map());
  assert.ok(loaded.ok);
  const findings: Finding[] = [];
  await verify({
    store,
    configuration: loaded.configuration,
    tenant: null,
    isRepair: false,
    onProgress: () => {},
    onDifference: (finding) => findings.push(finding),
  });
  return findings;
}

async function storedLayouts({ store }: Platform): Promise<Set<string>> {
  const keys = await store.client.keys('*:lookup:*');
  return new Set(keys.map((key) => key.split(':')[4] ?? ''));
}
