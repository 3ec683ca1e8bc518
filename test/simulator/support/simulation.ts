/**
 * One schedule: fronts write, workers work, and chance decides when who breaks. Everything runs in this process and in
 * virtual time; a seed gives the same schedule again.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { Worker } from '../../../src/actors/worker.ts';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import type { JsonObject } from '../../../src/contract/json.ts';
import { AutoFields } from '../../../src/store/auto-fields.ts';
import { ActiveConfiguration } from '../../../src/store/configuration.ts';
import { StoreUnavailableError } from '../../../src/store/connection.ts';
import { acceptEntities, encodeEntity, removeEntities } from '../../../src/store/entities.ts';
import { keys } from '../../../src/store/keys.ts';
import { waitUntilSettled } from '../../../src/store/partition-state.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import { publishDocuments, RecordingSink } from '../../actors/support/fleet.ts';
import { type SourceId, World } from '../../actors/support/world.ts';
import { Dice } from '../../support/dice.ts';
import { VirtualClock } from './clock.ts';
import { type FencingCheck, fencingCheck } from './fencing-check.ts';
import { checkStore, memoryDifferences } from './invariants.ts';
import { Network } from './network.ts';
import { SimulatedRedis, type StreamEntryReply } from './redis.ts';
import { documents, tenant } from './site.ts';
import type { Reply } from './wire.ts';

export interface Plan {
  readonly seed: number;
  readonly partitions: number;
  /** What may break; absent: everything. */
  readonly faults?: readonly [Fault, ...Fault[]];
  /** A mistake in scripts: gives the text of a script in place of its own. */
  plant?(script: string, source: string): string;
  /** Told of every command that was answered at once; scripts with their text. */
  onCommand?(command: readonly string[], reply: Reply, nowMs: number): void;
}

const scriptFolder = new URL('../../../src/store/scripts/', import.meta.url);
const scriptNames = new Map(
  readdirSync(scriptFolder).map((file) => [
    readFileSync(new URL(file, scriptFolder), 'utf8'),
    file.replace('.lua', ''),
  ]),
);
/** What breaks, as often as it stands here. */
const allFaults = ['crash', 'crash', 'stop', 'links', 'front', 'stall', 'redis', 'lease', 'lease'] as const;
const entityCount = 8;
/** A schedule that is not over by then never will be. */
const scheduleMaxMs = 120_000;
/** A partition whose worker is gone is another's after this. */
const takeoverMaxMs = 10_000;
const require = createRequire(import.meta.url);

/** A schedule after which something does not hold. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';

  constructor(
    readonly seed: number,
    readonly log: readonly string[],
    cause: unknown,
  ) {
    super(`schedule ${seed}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

export type Fault = (typeof allFaults)[number];

interface Member {
  readonly host: string;
  readonly store: Store;
  readonly configuration: ActiveConfiguration;
  readonly worker: Worker;
  readonly sink: RecordingSink;
}

export class Simulation {
  readonly clock = new VirtualClock();
  readonly dice: Dice;
  readonly redis: SimulatedRedis;
  readonly network: Network;
  readonly world = new World();
  readonly members = new Set<Member>();
  /** What happened, for whoever looks into a schedule. */
  readonly log: string[] = [];
  readonly #fencing: FencingCheck;
  #store: Store | null = null;
  #hosts = 0;

  private constructor(private readonly plan: Plan) {
    this.dice = new Dice(plan.seed);
    this.redis = new SimulatedRedis(this.clock, {
      onRead: (key, entries, all) => this.#disturb(key, entries, all),
      onScript: (source, scriptKeys, words, reply) =>
        this.#fencing.afterScript(scriptNames.get(source) ?? '', scriptKeys, words, reply),
      alter: (source) => plan.plant?.(scriptNames.get(source) ?? '', source) ?? source,
      onCommand: (command, reply) => plan.onCommand?.(command, reply, this.clock.nowMs),
    });
    this.#fencing = fencingCheck(this.redis.keyspace);
    this.network = new Network(this.clock, this.dice, (send) => this.redis.accept(send));
  }

  /** @throws ScheduleError when an invariant does not hold */
  static async run(plan: Plan): Promise<Simulation> {
    const simulation = new Simulation(plan);
    const restore = [simulation.clock.install(), simulation.network.install(), simulation.#installChance()];
    try {
      await simulation.clock.run(simulation.#play(), scheduleMaxMs);
      return simulation;
    } catch (error) {
      throw new ScheduleError(plan.seed, simulation.log, error);
    } finally {
      for (const put of restore) put();
    }
  }

  /** Ids that are made up decide orders: they come from the seed too. @returns puts it back */
  #installChance(): () => void {
    const crypto = require('node:crypto') as { randomBytes: unknown };
    const former = crypto.randomBytes;
    crypto.randomBytes = (count: number) =>
      Buffer.from(Array.from({ length: count }, () => this.dice.below(256)));
    syncBuiltinESMExports();
    return () => {
      crypto.randomBytes = former;
      syncBuiltinESMExports();
    };
  }

  get store(): Store {
    if (this.#store === null) throw new Error('the store is not open yet');
    return this.#store;
  }

  async #play(): Promise<void> {
    this.#store = await this.#open('front');
    await publishDocuments(this.store, documents);
    await this.#addMember();
    await this.#addMember();
    const faults = this.#breakThings();
    await this.#write();
    await faults;
    this.#heal();
    if (this.members.size === 0) await this.#addMember();
    await waitUntilSettled(this.store);
    await this.#check();
    await Promise.all([...this.members].map((member) => this.#stop(member)));
    await this.store.close();
  }

  #open(host: string): Promise<Store> {
    return openStore({
      address: { kind: 'single', url: this.network.urlOf(host) },
      partitionCount: this.plan.partitions,
    });
  }

  async #addMember(): Promise<void> {
    this.#hosts += 1;
    const host = `worker-${this.#hosts}`;
    const store = await this.#open(host);
    const configuration = new ActiveConfiguration(store);
    await configuration.start();
    const sink = new RecordingSink(store);
    const worker = new Worker({
      store,
      configuration,
      autoFields: new AutoFields(store),
      items: sink,
      waitingFor: () => [],
      onTrouble: (message, error) => this.#note(`${host}: ${message}: ${error}`),
    });
    worker.start();
    this.members.add({ host, store, configuration, worker, sink });
    this.#note(`${host} starts`);
  }

  async #stop(member: Member): Promise<void> {
    this.members.delete(member);
    member.configuration.close();
    await member.worker.stop();
    await member.store.close();
  }

  /** What it sent may still arrive in part; nothing that it does afterwards reaches anybody. */
  #crash(member: Member): void {
    this.network.remove(member.host);
    member.store.client.disconnect();
    this.#stop(member).catch(() => {});
  }

  #note(what: string): void {
    this.log.push(`${this.clock.nowMs.toFixed(1)} ${what}`);
  }

  async #write(): Promise<void> {
    const { dice } = this;
    const count = 8 + dice.below(12);
    for (let change = 0; change < count; change += 1) {
      await this.#change();
      if (dice.chance(70)) await this.clock.wait(dice.below(dice.chance(20) ? 3_000 : 60));
    }
  }

  /** As a client does: what is not answered is sent again. */
  async #change(): Promise<void> {
    const { dice } = this;
    const sourceId = dice.of<SourceId>(['src-cms', 'src-cms', 'src-shop']);
    if (dice.chance(20)) {
      const originId = `e${dice.below(entityCount)}`;
      this.#note(`delete ${originId} of ${sourceId}`);
      const wasThere = this.world.of(sourceId).delete(originId);
      let attempts = 0;
      await this.#insist(async () => {
        attempts += 1;
        const { removed } = await removeEntities(this.store, { tenant, sourceId, originIds: [originId] });
        // Of two attempts the first may have done it.
        if (attempts === 1)
          assert.deepEqual(removed, [wasThere], `deleting ${originId} tells what was there`);
      });
      return;
    }
    const sent = Array.from({ length: 1 + dice.below(3) }, () => this.#randomEntity(sourceId));
    this.#note(`save ${sent.map(({ originId }) => originId)} of ${sourceId}`);
    const entities = sent.map(encodeEntity);
    await this.#insist(() => acceptEntities(this.store, { tenant, sourceId, force: true, entities }));
    for (const entity of sent) this.world.of(sourceId).set(entity.originId, entity);
  }

  async #insist(act: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await act();
        return;
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        this.#note(`front: ${error}`);
        await this.clock.wait(20);
      }
    }
  }

  #randomEntity(sourceId: SourceId): SourceEntity {
    const { dice } = this;
    const id = () => `e${dice.below(entityCount)}`;
    const properties: JsonObject = { title: `T${dice.below(20)}`, rank: dice.below(5) };
    if (dice.chance(50)) properties.slug = `slug-${dice.below(4)}`;
    if (dice.chance(50)) properties.topic = `topic-${dice.below(2)}`;
    if (dice.chance(50)) properties.tags = [`topic-${dice.below(2)}`];
    if (sourceId !== 'src-cms') properties.page = id();
    return {
      originId: id(),
      type: sourceId === 'src-cms' ? dice.of(['page', 'page', 'page', 'note']) : 'product',
      url: dice.chance(70) ? `/u${dice.below(6)}` : null,
      originParentId: dice.chance(70) ? id() : null,
      redirects: dice.chance(30) ? [`/u${dice.below(6)}`, `/r${dice.below(3)}`] : [],
      properties,
    };
  }

  async #breakThings(): Promise<void> {
    const { dice } = this;
    const count = 1 + dice.below(6);
    for (let fault = 0; fault < count; fault += 1) {
      await this.clock.wait(dice.below(dice.chance(50) ? 200 : 2_500));
      await this.#breakSomething();
    }
  }

  async #breakSomething(): Promise<void> {
    const { dice } = this;
    const member = [...this.members][dice.below(Math.max(1, this.members.size))];
    const fault = dice.of<Fault>(this.plan.faults ?? allFaults);
    this.#note(`${fault} ${member?.host ?? ''}`);
    switch (fault) {
      case 'crash':
        if (member !== undefined) this.#crash(member);
        if (this.members.size < 2) await this.#addMember();
        return;
      case 'stop':
        if (member !== undefined && this.members.size > 1) await this.#stop(member);
        else await this.#addMember();
        return;
      case 'links':
        if (member !== undefined) this.network.breakLinks(member.host);
        return;
      case 'front':
        this.network.breakLinks('front');
        return;
      case 'stall':
        if (member !== undefined) this.network.stall(member.host, dice.below(12_000));
        return;
      case 'redis':
        this.network.down();
        if (dice.chance(50)) this.redis.forgetScripts();
        await this.clock.wait(dice.below(1_500));
        this.network.up();
        return;
      case 'lease':
        this.#endLease(dice.below(this.plan.partitions));
        return;
    }
  }

  /** As if its owner had not been heard of for long. */
  #endLease(partition: number): void {
    const key = keys.owner(this.store.partitions.tag(partition));
    if (this.redis.keyspace.has(key)) this.redis.execute(['HSET', key, 'leaseUntilMs', '0'], () => {});
  }

  #heal(): void {
    this.#note('nothing breaks any more');
    this.network.up();
  }

  /** Entries that come twice, from further back, or in another order. */
  #disturb(
    key: string,
    entries: readonly StreamEntryReply[],
    all: readonly StreamEntryReply[],
  ): readonly StreamEntryReply[] {
    if (!key.endsWith(':stream') || !this.dice.chance(5)) return entries;
    const [first, second, ...rest] = entries;
    const kind = this.dice.of(['fewer', 'twice', 'again', 'swapped'] as const);
    this.#note(`${kind} ${key}`);
    if (kind === 'fewer') return entries.slice(0, 1);
    if (kind === 'twice') return entries.flatMap((entry) => [entry, entry]);
    if (kind === 'again') return all.slice(0, all.findIndex(({ id }) => id === entries.at(-1)?.id) + 1);
    return first !== undefined && second !== undefined ? [second, first, ...rest] : entries;
  }

  async #check(): Promise<void> {
    await checkStore(this.store, this.world);
    const endMs = this.network.calmFromMs + takeoverMaxMs;
    for (;;) {
      const differences = await memoryDifferences(this.store, [...this.members]);
      if (differences.length === 0) return;
      if (this.clock.nowMs > endMs) assert.deepEqual(differences, [], `after ${takeoverMaxMs} ms`);
      await this.clock.wait(200);
    }
  }
}
