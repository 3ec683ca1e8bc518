/**
 * A power failure: all processes die at once, and only the synced part of Redis' file survives. SIGKILL alone would prove less,
 * because the kernel still writes buffered data to the disk.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import { readEntities } from '../../../src/store/entities/entities.ts';
import { waitUntilSettled } from '../../../src/store/partitions/partition-state.ts';
import { article, assertTrue, categories, files } from '../../cluster/support/articles.ts';
import { runs } from '../../support/runs.ts';
import { until } from '../../support/until.ts';
import type { Client } from '../support/client.ts';
import { Ledger } from '../support/ledger.ts';
import { canFollowSyncs, unsyncedBytes } from '../support/processes/synced-file.ts';
import { oneRedisOnly, System } from '../support/processes/system.ts';
import { Random } from '../support/random.ts';
import { sourceId, sourceKey } from '../support/site.ts';

const articleCount = 120;
const writers = 4;
const skip = canFollowSyncs()
  ? oneRedisOnly.skip
  : 'strace is not installed, and what was synced cannot be known without it';

interface Save {
  readonly entity: SourceEntity;
  readonly sentMs: number;
  /** Null if the save was not acknowledged. */
  acknowledgedMs: number | null;
}

/** Saves articles until stopped, and records when each state was sent and acknowledged. */
class Writing {
  readonly saves = new Map<string, Save[]>();
  /** The state of each entity before its first save here. */
  readonly before = new Map<string, readonly (SourceEntity | null)[]>();
  readonly #work: Promise<unknown>;
  #isRunning = true;

  constructor(client: Client, ledger: Ledger, random: Random) {
    this.#work = Promise.all(
      Array.from({ length: writers }, (_, writer) => this.#write(client, ledger, random, writer)),
    );
  }

  async #write(client: Client, ledger: Ledger, random: Random, writer: number): Promise<void> {
    const own = Array.from({ length: articleCount / writers }, (_, number) => number * writers + writer);
    while (this.#isRunning) {
      const sentMs = performance.now();
      const saves = random
        .shuffled(own)
        .slice(0, 20)
        .map((number): Save => ({ entity: article(random, number), sentMs, acknowledgedMs: null }));
      for (const save of saves) this.#remember(save, ledger);
      const isAcknowledged = await ledger.save(
        client,
        saves.map(({ entity }) => entity),
      );
      for (const save of saves) save.acknowledgedMs = isAcknowledged ? performance.now() : null;
      await sleep(50);
    }
  }

  #remember(save: Save, ledger: Ledger): void {
    const { originId } = save.entity;
    if (!this.before.has(originId)) this.before.set(originId, ledger.possible(originId));
    this.saves.set(originId, [...(this.saves.get(originId) ?? []), save]);
  }

  /** Stops after the write in progress. */
  async end(): Promise<void> {
    this.#isRunning = false;
    await this.#work;
  }
}

/** Records in the ledger which state of each entity survived. @returns acknowledged saves that are lost */
async function settleLedger(system: System, ledger: Ledger, { saves, before }: Writing): Promise<Save[]> {
  const originIds = [...saves.keys()];
  const stored = await readEntities(
    await system.store(),
    'acme',
    originIds.map((originId) => ({ sourceId, originId })),
  );
  const gone: Save[] = [];
  let lastKeptMs = 0;
  for (const [at, originId] of originIds.entries()) {
    const state = stateOf(stored[at] ?? null);
    const ofEntity = saves.get(originId) ?? [];
    const kept = ofEntity.findLastIndex(({ entity }) => isDeepStrictEqual(entity, state));
    const isKnown = kept >= 0 || before.get(originId)?.some((one) => isDeepStrictEqual(one, state));
    assert.ok(isKnown, `${originId} is ${JSON.stringify(state)}, which it never was`);
    lastKeptMs = Math.max(lastKeptMs, ofEntity[kept]?.sentMs ?? 0);
    gone.push(...ofEntity.slice(kept + 1).filter(({ acknowledgedMs }) => acknowledgedMs !== null));
    ledger.found(originId, state);
  }
  const firstGoneMs = Math.min(...gone.map(({ acknowledgedMs }) => acknowledgedMs ?? 0));
  assert.ok(lastKeptMs <= firstGoneMs, 'no surviving write was sent after a lost one was acknowledged');
  return gone;
}

function stateOf(entity: SourceEntity | null): SourceEntity | null {
  if (entity === null) return null;
  const { originId, type, url, originParentId, redirects, properties } = entity;
  return { originId, type, url, originParentId, redirects: [...redirects], properties };
}

interface Cut {
  readonly appendFsync: 'always' | 'everysec';
  /** Which machine loses power: that of all processes, or that of Redis only. */
  readonly machine: 'everybody' | 'redis';
  readonly check: (gone: readonly Save[]) => void;
}

async function cutAndCheck(context: TestContext, { appendFsync, machine, check }: Cut): Promise<void> {
  const random = Random.forTest(`power-cut of ${machine}, ${appendFsync}`);
  const redis = { appendFsync, hasPowerCuts: true };
  const started = System.start({ web: 1, workers: 1, jobs: 0, partitions: 8, files: files(1), redis });
  context.after(() => started.then((system) => system.stop()));
  const system = await started;
  const ledger = new Ledger({ key: sourceKey, sourceId });
  assert.ok(await ledger.save(system.client(), categories));
  let oldestMs = 0;
  for (let round = 0; round < runs(1); round += 1) {
    const writing = new Writing(system.client(), ledger, random);
    let [cutMs, bytes] = [0, 0];
    try {
      const { answered } = ledger;
      await until('writes are running', () => ledger.answered > answered + 20);
      // Longer than the interval between syncs, so that earlier data is on the disk.
      await sleep(2_000 + random.below(1_500));
      cutMs = performance.now();
      bytes = await (machine === 'redis' ? system.redis : system).cutPower();
    } finally {
      await writing.end();
    }
    if (machine === 'redis') await system.restart('redis');
    else await system.restartAll();
    await system.ready();
    const gone = await settleLedger(system, ledger, writing);
    const ageMs = Math.max(0, ...gone.map(({ acknowledgedMs }) => cutMs - (acknowledgedMs ?? cutMs)));
    oldestMs = Math.max(oldestMs, ageMs);
    context.diagnostic(
      `${bytes} bytes were not on the disk: ${gone.length} acknowledged saves of entities lost, ` +
        `the oldest acknowledged ${Math.round(ageMs)} ms before the cut`,
    );
    check(gone);
    await waitUntilSettled(await system.store());
    await assertTrue(system, system.client(), ledger);
  }
  context.diagnostic(
    `${appendFsync}: ${runs(1)} cuts, nothing older than ${Math.round(oldestMs)} ms was lost, seed ${random.seed}`,
  );
}

test('power cut: unsynced bytes are counted from the order of system calls', () => {
  const begun = [
    '11 write(9, ""..., 100) = 100',
    '12 fdatasync(9 <unfinished ...>',
    '11 write(9, ""..., 10) = 10',
  ];
  const ended = [...begun, '12 <... fdatasync resumed>) = 0'];
  assert.equal(unsyncedBytes(begun), 110);
  assert.equal(unsyncedBytes(ended), 10);
  assert.equal(unsyncedBytes([...ended, '11 write(9, ""..., 7 <unfinished ...>']), 17);
  assert.equal(unsyncedBytes([...ended, '11 write(9, ""..., 7) = 7', '11 fdatasync(9) = 0']), 0);
});

test('power cut: with appendfsync always nothing acknowledged is lost', { skip }, (context) =>
  cutAndCheck(context, {
    appendFsync: 'always',
    machine: 'everybody',
    check: (gone) => assert.deepEqual(gone, []),
  }),
);

test(
  'power cut: with appendfsync everysec only the last writes are lost, and the rest is consistent',
  { skip },
  (context) => cutAndCheck(context, { appendFsync: 'everysec', machine: 'everybody', check: () => {} }),
);

test(
  'power cut: when only Redis restarts without its last writes, no process uses what it has lost',
  { skip },
  (context) => cutAndCheck(context, { appendFsync: 'everysec', machine: 'redis', check: () => {} }),
);
