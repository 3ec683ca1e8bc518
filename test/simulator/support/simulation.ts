/**
 * A platform that runs schedules: fronts write, workers work, and random choices decide what fails when. Everything runs in
 * this process and in virtual time; a seed reproduces the same schedules.
 */
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { publishConfiguration } from '../../../src/store/configuration/published-configuration.ts';
import { keys, Partitions } from '../../../src/store/keys.ts';
import { StoreUnavailableError } from '../../../src/store/redis/redis-errors.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import { Dice } from '../../support/dice.ts';
import { type FencingCheck, fencingCheck } from './checks/fencing.ts';
import { checkMemory, nextMoment, StoreCheck, whatWaits } from './checks/invariants.ts';
import { LayoutsCheck } from './checks/layouts.ts';
import { LeaseCheck } from './checks/leases.ts';
import { VirtualClock } from './clock.ts';
import { type Fault, faultsOfSeed } from './faults.ts';
import { JobList, JobsMember } from './jobs.ts';
import { scriptName } from './lua/script-names.ts';
import { withSmallLeaves } from './lua/small-leaves.ts';
import { Member } from './member.ts';
import { Network } from './redis/network.ts';
import { SimulatedRedis, type StreamEntryReply } from './redis/redis.ts';
import type { Reply } from './redis/reply.ts';
import { type Part, parts, type Site, siteWithout } from './site.ts';
import { Writes } from './writes.ts';

export interface Plan {
  readonly seed: number;
  readonly partitions: number;
  /** Number of successive schedules, each on the state of the previous one. Defaults to one. */
  readonly schedules?: number;
  /** The possible faults. Defaults to those of the seed. */
  readonly faults?: readonly [Fault, ...Fault[]];
  /** Plants a bug: returns the source that replaces that of a script. */
  plant?(script: string, source: string): string;
  /** Called for every command that was answered immediately, with the time of Redis; scripts with their source. */
  onCommand?(command: readonly string[], reply: Reply, nowMs: number): void;
}

const sentByFronts = new Set(['accept', 'remove']);

function tagIn([key = '']: readonly string[]): string {
  return key.slice(0, key.indexOf('}') + 1);
}

/** A schedule that takes longer will never end. */
const scheduleMaxMs = 120_000;
/** Whatever failed, no work must be left this long after all connections work again. */
const settleMaxMs = 30_000;
const pollMs = 20;
/** About as many scripts as a request causes. If none runs for `idleMs`, nothing is in progress. */
const scriptsAhead = 16;
const idleMs = 60;
const againMs = 20;
/** Workers read the clock of Redis twice a second. */
const clockNoticedMs = 2_000;
const require = createRequire(import.meta.url);

/** A schedule that violated an invariant. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';

  constructor(
    readonly seed: number,
    /** Number of schedules that ended before. */
    readonly schedules: number,
    readonly log: readonly string[],
    cause: unknown,
  ) {
    super(`seed ${seed}, schedule ${schedules + 1}: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
  }
}

/** How often a leaf of an ordered list was split, and how often two were merged. */
export interface LeafChanges {
  readonly cut: number;
  readonly joined: number;
}

interface AmidWork {
  /** Any script if absent. */
  readonly script?: string;
  readonly waitMs: number;
}

interface AfterScripts {
  readonly script: string | null;
  left: number;
  readonly resolve: () => void;
}

export class Simulation {
  readonly clock = new VirtualClock();
  readonly dice: Dice;
  readonly redis: SimulatedRedis;
  readonly network: Network;
  readonly members = new Set<Member>();
  /** The events, for debugging a schedule. */
  readonly log: string[] = [];
  readonly #fencing: FencingCheck;
  readonly #leases: LeaseCheck;
  readonly #layouts: LayoutsCheck;
  readonly #jobList: JobList;
  #jobs: JobsMember | null = null;
  /** Processes that were considered dead, and continue next to their replacements. */
  readonly #formerJobs: JobsMember[] = [];
  /** The site that was published last. */
  #site: Site = siteWithout([]);
  readonly #leftOut = new Set<Part>();
  /** Ids of workers that crashed and still count as live. */
  readonly #crashed: string[] = [];
  #generation = 0;
  #hosts = 0;
  /** A fault that waits for some scripts to run; the script that triggered the last one, and where it ran. */
  #afterScripts: AfterScripts | null = null;
  #struckTag = '';
  #struckScript = '';
  /** Schedules that have ended. */
  schedules = 0;
  leaves: LeafChanges = { cut: 0, joined: 0 };

  private constructor(private readonly plan: Plan) {
    this.dice = new Dice(plan.seed);
    const { onCommand } = plan;
    this.redis = new SimulatedRedis(this.clock, {
      onRead: (key, entries, all) => this.#disturb(key, entries, all),
      onScript: (source, scriptKeys, words, reply) => {
        const name = scriptName(source);
        this.#fencing.afterScript(name, scriptKeys, words, reply);
        if (name === 'lease') this.#leases.afterLease(tagIn(scriptKeys), words, reply);
        this.#layouts.afterScript(name);
        this.#countScript(name, scriptKeys);
      },
      onCall: (name, words) => this.#countLeaves(name, words),
      alter: (source) => withSmallLeaves(plan.plant?.(scriptName(source), source) ?? source),
      ...(onCommand && {
        onCommand: (command, reply) => onCommand.call(plan, command, reply, this.clock.redisMs),
      }),
    });
    const { tags } = new Partitions(plan.partitions);
    this.#fencing = fencingCheck(this.redis.keyspace, tags);
    this.#leases = new LeaseCheck(this.redis.keyspace, () => this.clock.redisMs);
    this.#layouts = new LayoutsCheck(this.redis.keyspace, tags, () => [...this.members]);
    this.#jobList = new JobList(plan.partitions);
    this.network = new Network(this.clock, this.dice, (send) => this.redis.accept(send));
  }

  /** @throws ScheduleError if an invariant is violated */
  static async run(plan: Plan): Promise<Simulation> {
    const simulation = new Simulation(plan);
    const restore = [simulation.clock.install(), simulation.network.install(), simulation.#installChance()];
    try {
      await simulation.clock.run(simulation.#play(), scheduleMaxMs * (plan.schedules ?? 1));
      return simulation;
    } catch (error) {
      throw new ScheduleError(plan.seed, simulation.schedules, simulation.log, error);
    } finally {
      for (const put of restore) put();
    }
  }

  /** Makes random ids depend on the seed, because they determine orders. @returns restores the original */
  #installChance(): () => void {
    const crypto = require('node:crypto') as { randomBytes: unknown };
    const former = crypto.randomBytes;
    crypto.randomBytes = (count: number) => {
      const bytes = Buffer.allocUnsafe(count);
      for (let at = 0; at < count; at += 1) bytes[at] = this.dice.below(256);
      return bytes;
    };
    syncBuiltinESMExports();
    return () => {
      crypto.randomBytes = former;
      syncBuiltinESMExports();
    };
  }

  async #play(): Promise<void> {
    const store = await this.#open('front');
    await this.#publish(store);
    const writes = new Writes(
      store,
      this.clock,
      this.dice,
      () => this.#streamEnds(store.partitions.tags),
      (what) => this.#note(what),
    );
    const check = new StoreCheck(this.redis.keyspace, store.partitions, writes, this.#isLikeCluster);
    for (let schedule = 1; schedule <= (this.plan.schedules ?? 1); schedule += 1) {
      this.#note(`schedule ${schedule}`);
      // Started concurrently, so that they compete for the same partitions.
      const missing = Math.max(0, 2 - this.members.size);
      await Promise.all(Array.from({ length: missing }, () => this.#addMember()));
      this.#jobs ??= await this.#addJobs();
      await this.#schedule(store, writes, check);
      this.schedules = schedule;
    }
    await Promise.all([...this.members].map((member) => this.#stop(member)));
    await this.#jobs?.stop();
    await store.close();
  }

  #streamEnds(tags: readonly string[]): number[] {
    return tags.map((tag) => Number(this.redis.keyspace.hash(keys.clock(tag)).get('stream') ?? 0));
  }

  async #schedule(store: Store, writes: Writes, check: StoreCheck): Promise<void> {
    const faults = this.#breakThings(store);
    await this.#write(writes);
    await faults;
    this.#heal(store);
    this.#jobs ??= await this.#addJobs();
    await this.#until(() => this.#openJobs() ?? this.#whatWaits(store));
    await check.check(this.#site);
    this.#layouts.checkSettled(this.#generation);
    await this.#until(() => checkMemory(this.redis.keyspace, store.partitions, [...this.members]));
    await this.#endFormerJobs();
    if (this.dice.chance(15)) await this.#setClock(writes);
  }

  #whatWaits({ partitions }: Store): string | null {
    return whatWaits(this.redis.keyspace, partitions.tags, this.clock.redisMs);
  }

  /**
   * Sets Redis' clock, mostly back. This must have no effect: no scheduled time is processed twice. A worker uses the old clock
   * until it reads it again, so no scheduled time may become due in between.
   */
  async #setClock({ worlds }: Writes): Promise<void> {
    const nextMs = nextMoment(this.redis.keyspace);
    if (nextMs !== null && nextMs < this.clock.redisMs + 2 * clockNoticedMs) return;
    for (const world of worlds.values()) world.recordTime();
    const aheadMs = -this.dice.below(3 * clockNoticedMs);
    this.#note(`Redis' clock is ${aheadMs} ms ahead`);
    this.clock.setRedis(aheadMs);
    await this.clock.wait(clockNoticedMs);
  }

  /** Waits until `look` finds nothing. @throws Error at the time limit of the schedule */
  async #until(look: () => string | null): Promise<void> {
    const endMs = this.network.calmFromMs + settleMaxMs;
    for (;;) {
      const found = look();
      if (found === null) return;
      if (this.clock.nowMs > endMs) throw new Error(`after ${settleMaxMs} ms: ${found}`);
      await this.clock.wait(pollMs);
    }
  }

  /** True for every third seed: no claim changes with a commit. */
  get #isLikeCluster(): boolean {
    return this.plan.seed % 3 === 0;
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
    // Every second worker behaves as in a cluster, where claims are written before the commit.
    const claimsPerCommit = this.#isLikeCluster || this.#hosts % 2 === 0 ? 0 : 100;
    const member = await Member.start(host, await this.#open(host), claimsPerCommit, (message, error) =>
      this.#note(`${host}: ${message}: ${error}`),
    );
    this.members.add(member);
    this.#note(`${host} starts`);
  }

  async #addJobs(): Promise<JobsMember> {
    this.#hosts += 1;
    const host = `jobs-${this.#hosts}`;
    this.#note(`${host} starts`);
    return await JobsMember.start(host, await this.#open(host), this.#jobList, (message, error) =>
      this.#note(`${host}: ${message}: ${error}`),
    );
  }

  /** Describes the open jobs of the last configuration, or null. Those of earlier ones end when they are notified. */
  #openJobs(): string | null {
    const open = this.#jobList.open(this.#generation).map(({ partition }) => partition);
    return open.length === 0 ? null : `jobs ${open} of generation ${this.#generation} are not done`;
  }

  /** Activates the site, with as many attempts as needed. */
  async #publish(store: Store): Promise<void> {
    for (;;) {
      try {
        const { documents, configuration } = this.#site;
        this.#generation = await publishConfiguration(store, documents, configuration);
        return;
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        this.#note(`front: ${error}`);
        await this.clock.wait(againMs);
      }
    }
  }

  async #stop(member: Member): Promise<void> {
    this.members.delete(member);
    await member.stop();
  }

  /** Data that it has sent may still arrive in part; what it does afterwards has no effect. */
  #crash(member: Member): void {
    this.members.delete(member);
    this.#crashed.push(member.id);
    this.network.remove(member.host);
    member.crash();
  }

  /** Interrupts the running jobs. Another process restarts them, or runs them in parallel with one that continues. */
  async #breakJobs(): Promise<void> {
    const { dice } = this;
    const jobs = this.#jobs;
    if (jobs === null) return;
    const kind = dice.of(['links', 'paused', 'crash', 'stop'] as const);
    if (kind === 'links') {
      this.network.breakLinks(jobs.host);
      return;
    }
    this.#jobs = null;
    if (kind === 'stop') await jobs.stop();
    if (kind === 'crash') {
      this.network.remove(jobs.host);
      jobs.crash();
    }
    if (kind !== 'paused') return;
    this.network.stall(jobs.host, dice.below(900));
    this.#formerJobs.push(jobs);
    this.#jobs = await this.#addJobs();
  }

  /** Stalls the jobs right after they have recorded something, so that what they do next is late and uses outdated state. */
  async #holdJobs(): Promise<void> {
    await this.#amidWork({ script: 'fill', left: this.dice.below(this.plan.partitions), waitMs: 800 });
    if (this.#jobs !== null) this.network.stall(this.#jobs.host, this.dice.below(400));
  }

  async #endFormerJobs(): Promise<void> {
    await Promise.all(this.#formerJobs.splice(0).map((jobs) => jobs.stop()));
  }

  #note(what: string): void {
    this.log.push(`${this.clock.nowMs.toFixed(1)} ${what}`);
  }

  async #write(writes: Writes): Promise<void> {
    const { dice } = this;
    const count = 1 + dice.below(3);
    for (let change = 0; change < count; change += 1) {
      await writes.change();
      if (dice.chance(70)) await this.clock.wait(dice.below(dice.chance(10) ? 400 : 30));
    }
  }

  async #breakThings(store: Store): Promise<void> {
    const { dice } = this;
    const count = 1 + dice.below(2);
    for (let fault = 0; fault < count; fault += 1) {
      if (dice.chance(70)) await this.#amidWork({ left: dice.below(scriptsAhead), waitMs: idleMs });
      else await this.clock.wait(dice.below(dice.chance(85) ? 60 : 600));
      await this.#breakSomething(store);
    }
  }

  /** Waits until one of the next scripts has run, or until none has run for a while. */
  async #amidWork({ script, left, waitMs }: Pick<AfterScripts, 'left'> & AmidWork): Promise<void> {
    this.#struckTag = '';
    this.#struckScript = '';
    await new Promise<void>((resolve) => {
      this.#afterScripts = { script: script ?? null, left, resolve };
      this.clock.after(waitMs, resolve);
    });
    this.#afterScripts = null;
  }

  #countScript(script: string, scriptKeys: readonly string[]): void {
    const waiting = this.#afterScripts;
    if (waiting === null || (waiting.script !== null && waiting.script !== script)) return;
    waiting.left -= 1;
    if (waiting.left >= 0) return;
    this.#struckTag = tagIn(scriptKeys);
    this.#struckScript = script;
    waiting.resolve();
  }

  /** Recognizes them by the commands that only `parts/ordered-lists.lua` uses in this way. */
  #countLeaves(name: string, [key = '']: readonly string[]): void {
    const { cut, joined } = this.leaves;
    if (name === 'COPY') this.leaves = { cut: cut + 1, joined };
    if (name === 'DEL' && key.includes(':leaf:')) this.leaves = { cut, joined: joined + 1 };
  }

  /** The victim: usually the owner of the partition in which the last script ran. */
  #victim(): Member | undefined {
    const { dice } = this;
    const members = [...this.members];
    const tag = this.#struckTag;
    const owner = tag === '' ? undefined : this.redis.keyspace.hash(keys.owner(tag)).get('worker');
    const amidWork = members.find(({ worker }) => worker.id === owner);
    return amidWork !== undefined && dice.chance(70)
      ? amidWork
      : members[dice.below(Math.max(1, members.length))];
  }

  async #breakSomething(store: Store): Promise<void> {
    const { dice } = this;
    const member = this.#victim();
    const faults = this.plan.faults ?? faultsOfSeed(this.plan.seed);
    // The request was processed; the front usually gets the reply, unless its connection breaks.
    const mayRepeat = sentByFronts.has(this.#struckScript) && faults.includes('front') && dice.chance(40);
    const fault = mayRepeat ? 'front' : dice.of<Fault>(faults);
    this.#note(`${fault} ${member?.host ?? ''}`);
    switch (fault) {
      case 'crash':
        if (member !== undefined) this.#crash(member);
        if (this.members.size === 0) await this.#addMember();
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
        if (member !== undefined) this.#stall(member, store.partitions.tags);
        return;
      case 'redis':
        this.network.down();
        if (dice.chance(50)) this.redis.forgetScripts();
        await this.clock.wait(dice.below(dice.chance(80) ? 60 : 600));
        this.network.up();
        return;
      case 'jobs':
        await this.#breakJobs();
        return;
      case 'link':
        if (member === undefined) return;
        this.network.stallOneLink(dice.chance(80) ? member.host : 'front', dice.below(900));
        return;
      case 'configure':
        await this.#configure(store);
        if (dice.chance(60)) return;
        if (dice.chance(50)) await this.clock.wait(dice.below(dice.chance(50) ? 100 : 700));
        else await this.#holdJobs();
        await this.#configure(store);
        return;
      case 'lease': {
        const struck = store.partitions.tags.indexOf(this.#struckTag);
        const partition = struck >= 0 && dice.chance(60) ? struck : dice.below(this.plan.partitions);
        if (dice.chance(40)) this.#endLease(store.partitions.tag(partition));
        else this.#usurp(store.partitions.tags, partition);
        return;
      }
    }
  }

  /** Omits another part of the site, or restores it. */
  async #configure(store: Store): Promise<void> {
    for (const part of parts) {
      if (!this.dice.chance(40)) continue;
      if (!this.#leftOut.delete(part)) this.#leftOut.add(part);
    }
    this.#site = siteWithout(parts.filter((part) => this.#leftOut.has(part)));
    await this.#publish(store);
  }

  /** Usually simulates the effect of a longer pause immediately: the worker loses what it owns, and resumes after that. */
  #stall({ host, worker }: Member, tags: readonly string[]): void {
    const { dice, redis } = this;
    this.network.stall(host, dice.below(dice.chance(90) ? 900 : 2_500));
    if (dice.chance(25)) return;
    for (const tag of tags) {
      if (redis.keyspace.hash(keys.owner(tag)).get('worker') === worker.id) this.#endLease(tag);
    }
  }

  /** Ends a lease as if its owner had been silent for a long time. */
  #endLease(tag: string): void {
    this.#leases.forget(tag);
    const key = keys.owner(tag);
    if (this.redis.keyspace.has(key)) this.redis.execute(['HSET', key, 'leaseUntilMs', '0'], 0, () => {});
  }

  /** Acts as if another worker had taken a partition and crashed, before or after it fenced the previous owner. */
  #usurp(tags: readonly string[], partition: number): void {
    const { redis, dice } = this;
    const owner = keys.owner(tags[partition] ?? '');
    if (!redis.keyspace.has(owner)) return;
    this.#leases.forget(tags[partition] ?? '');
    const send = (...words: string[]) => redis.execute(words, 0, () => {});
    send('HINCRBY', owner, 'epoch', '1');
    send('HSET', owner, 'worker', 'gone', 'leaseUntilMs', '0');
    if (dice.chance(40)) return;
    const epoch = redis.keyspace.hash(owner).get('epoch') ?? '';
    for (const tag of tags) send('HSET', keys.fence(tag), String(partition), epoch);
  }

  /** Ends all faults. Usually simulates the effect of waiting immediately: seconds in which only leases expire. */
  #heal(store: Store): void {
    this.#note('no further faults');
    this.network.up();
    if (this.dice.chance(5)) return;
    const here = new Set([...this.members].map(({ worker }) => worker.id));
    for (const tag of store.partitions.tags) {
      if (!here.has(this.redis.keyspace.hash(keys.owner(tag)).get('worker') ?? '')) this.#endLease(tag);
    }
    for (const id of this.#crashed.splice(0)) {
      const news = JSON.stringify({ kind: 'left', id });
      this.redis.execute(['PUBLISH', store.channels.beats, news], 0, () => {});
    }
  }

  /** Sometimes returns fewer entries, or entries that are repeated, start earlier, or are out of order. */
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
}
