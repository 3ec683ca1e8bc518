/**
 * The whole platform in real processes: its own Redis, fronts, workers and jobs over one configuration folder. With
 * `MILLRACE_STORE=cluster` it has its own Redis Cluster: `MILLRACE_STORE=cluster npm test -- test/system/truth/truth.test.ts`.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { applyFolder } from '../../../../src/cli/configuration/publish-configuration.ts';
import type { Configuration } from '../../../../src/config/configuration.ts';
import { issueText } from '../../../../src/config/documents/issue-text.ts';
import { readConfiguration } from '../../../../src/config/documents/read-documents.ts';
import type { Json } from '../../../../src/contract/json.ts';
import { rebuildJobs, rebuildState } from '../../../../src/jobs/rebuild-job-queue.ts';
import { liveProcesses } from '../../../../src/store/processes/registry.ts';
import type { RedisAddress } from '../../../../src/store/redis/redis-connection.ts';
import { openStore, type Store } from '../../../../src/store/store.ts';
import { programWords } from '../../../../src/typescript/clone-or-package.mjs';
import { RedisCluster } from '../../../cluster/support/cluster.ts';
import { ownPort } from '../../../support/own-port.ts';
import { neverMs, until } from '../../../support/until.ts';
import { Client } from '../client.ts';
import { SystemProcess } from './process.ts';
import { type RedisOptions, RedisServer } from './redis-server.ts';

/** Content by path relative to the configuration folder. */
export type ConfigFiles = Readonly<Record<string, Json>>;

export interface SystemOptions {
  /** Number of processes of each role. Defaults to 1. */
  readonly web?: number;
  readonly workers?: number;
  readonly jobs?: number;
  /** Defaults to 4. */
  readonly partitions?: number;
  readonly files: ConfigFiles;
  /** A cluster to use, which the test starts and stops. By default, the system has its own Redis. */
  readonly cluster?: ClusterPlace;
  /** Options of the system's own Redis. */
  readonly redis?: RedisOptions;
  readonly env?: Readonly<Record<string, string>>;
  /** Each front listens on its own loopback address, as on several hosts. Requires that all of 127.0.0.0/8 is loopback. */
  readonly hosts?: 'several';
  /** Called with the port of the system's own Redis before anything connects to it, and awaited. */
  onRedis?(port: number): void | Promise<void>;
  /** Address for the test's own store, if it is not that of the system's own Redis. */
  readonly storeUrl?: string;
}

interface ClusterPlace {
  readonly address: RedisAddress;
  /** In the format of `REDIS_CLUSTER`. */
  readonly seeds: string;
}

/** What a system starts for itself; both are null if the test provides a cluster. */
interface OwnStore {
  readonly redis: RedisServer | null;
  readonly cluster: RedisCluster | null;
}

const isOnCluster = process.env.MILLRACE_STORE === 'cluster';

/** Options of a test that manipulates the single Redis itself. */
export const oneRedisOnly = { skip: isOnCluster && 'it is about the one Redis' };

export type Role = 'web' | 'worker' | 'jobs';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const entryPoints: Readonly<Record<Role, string>> = {
  web: 'workers/web.ts',
  worker: 'workers/partition.ts',
  jobs: 'workers/jobs.ts',
};
/** Log message of a front that accepts connections. */
const charactersInErrors = 3_000;
const listening = 'web is listening';
/** A front that was ready once reports these only as `degraded`. */
const isIncomplete = /no owner|no worker is running|an index is loading|is being reloaded|only in part/;
/** Internal errors in a log. */
const bugPattern = /\b(TypeError|RangeError|ReferenceError|SyntaxError|AssertionError)\b.*/;

export class System {
  readonly #processes = new Map<string, SystemProcess>();
  readonly #ports = new Map<string, number>();
  readonly #clients: Client[] = [];
  #store: Promise<Store> | null = null;
  #configuration: Configuration | null = null;
  #files: ConfigFiles = {};

  private constructor(
    private readonly options: SystemOptions,
    private readonly own: OwnStore,
    private readonly folder: string,
  ) {}

  /** Starts a system and waits until it is ready. The caller stops it; if that fails, the processes end with this one. */
  static async start(options: SystemOptions): Promise<System> {
    const folder = await mkdtemp(path.join(tmpdir(), 'millrace-system-'));
    const own = await startStore(options);
    if (own.redis !== null) await options.onRedis?.(own.redis.port);
    const system = new System(options, own, folder);
    try {
      system.#configuration = await system.#writeConfiguration(options.files);
      for (const role of ['web', 'worker', 'jobs'] as const) {
        const count = { web: options.web, worker: options.workers, jobs: options.jobs }[role] ?? 1;
        for (let number = 1; number <= count; number += 1) await system.add(`${role}.${number}`);
      }
      await system.ready();
      return system;
    } catch (error) {
      await system.stop().catch(() => {});
      throw error;
    }
  }

  get redis(): RedisServer {
    if (this.own.redis === null) throw new Error('this system works on a cluster');
    return this.own.redis;
  }

  get #cluster(): ClusterPlace | null {
    return this.options.cluster ?? this.own.cluster;
  }

  get partitions(): number {
    return this.options.partitions ?? 4;
  }

  get configDir(): string {
    return path.join(this.folder, 'config');
  }

  /** Folder of the system's own Redis. */
  get redisDir(): string {
    return this.redis.dir;
  }

  /** Folder of the workers' snapshots. */
  get snapshotDir(): string {
    return path.join(this.folder, 'data', 'shards');
  }

  /** A folder for the test's own files. */
  get scratchDir(): string {
    const dir = path.join(this.folder, 'scratch');
    mkdirSync(dir, { recursive: true });
    return dir;
  }

  /** The configuration that was published last. */
  get configuration(): Configuration {
    if (this.#configuration === null) throw new Error('nothing is configured yet');
    return this.#configuration;
  }

  get fronts(): string[] {
    return [...this.#processes.keys()].filter((name) => name.startsWith('web'));
  }

  get workers(): string[] {
    return [...this.#processes.keys()].filter((name) => name.startsWith('worker'));
  }

  /** Environment of a process or command that works on this system. */
  environment(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      REDIS_URL: this.own.redis?.url ?? '',
      REDIS_CLUSTER: this.#cluster?.seeds ?? '',
      CONFIG_DIR: this.configDir,
      DATA_DIR: path.join(this.folder, 'data'),
      PARTITIONS: String(this.partitions),
      HOST: '127.0.0.1',
      LOG_LEVEL: 'info',
      MILLRACE_SUPERVISED: '1',
      ...this.options.env,
    };
  }

  /** The test's own store, shared by all callers, because files that share a platform call concurrently and `stop` closes one. */
  store(): Promise<Store> {
    const url = this.options.storeUrl ?? this.own.redis?.url ?? '';
    const address = this.#cluster?.address ?? { kind: 'single' as const, url };
    this.#store ??= openStore({ address, partitionCount: this.partitions });
    return this.#store;
  }

  /** Starts one more process; the name determines its role: `worker.4`. A restarted front takes its old port. */
  async add(name: string): Promise<void> {
    const role = name.split('.')[0] as Role;
    if (role === 'web') this.#ports.set(name, await ownPort());
    const process_ = new SystemProcess(name, () => ({
      program: process.execPath,
      words: [...programWords, path.join(root, entryPoints[role])],
      env: { ...this.environment(), HOST: this.#hostOf(name), PORT: String(this.#ports.get(name) ?? 0) },
    }));
    this.#processes.set(name, process_);
    process_.start();
  }

  process(name: string): SystemProcess {
    const found = name === 'redis' ? this.redis.process : this.#processes.get(name);
    if (found === undefined) throw new Error(`there is no process ${name}`);
    return found;
  }

  /** Sends a signal to a process, also to `redis`, and waits for its end if the signal ends it. Kills all nodes of a cluster. */
  async kill(name: string, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (name === 'redis' && this.own.cluster !== null) await this.own.cluster.kill();
    else await this.process(name).signal(signal);
  }

  /**
   * Kills every process at the same time, and truncates Redis' file to what was synced.
   * @returns number of bytes that were removed
   */
  async cutPower(): Promise<number> {
    const redis = this.redis.cutPower();
    await Promise.all([...this.#processes.keys()].map((name) => this.kill(name)));
    return await redis;
  }

  /** Starts everything again. Does not wait until it is ready. */
  async restartAll(): Promise<void> {
    for (const name of ['redis', ...this.#processes.keys()]) await this.restart(name);
  }

  /** Starts a process that was killed. Does not wait until it is ready. */
  async restart(name: string): Promise<void> {
    if (name === 'redis') await this.redis.start();
    else this.process(name).start();
  }

  /** Waits until every running front is ready, every partition has an owner and every index is loaded. */
  async ready(timeoutMs = neverMs): Promise<void> {
    let last = '';
    try {
      await until(
        'the system is ready',
        async () => {
          this.#throwSurprises();
          for (const name of this.fronts) {
            if (!this.process(name).isRunning) continue;
            last = await this.#waitingFor(name);
            if (last !== '') return false;
          }
          return true;
        },
        timeoutMs,
      );
    } catch (error) {
      throw new Error(
        `${error instanceof Error ? error.message : error}: ${last}\n${this.outputs(charactersInErrors)}`,
      );
    }
  }

  async #waitingFor(name: string): Promise<string> {
    // Requests to a front that does not listen yet cost more than its whole startup.
    if (!this.process(name).outputOfThisLife.includes(listening)) return `${name} listens`;
    try {
      const response = await fetch(`${this.url(name)}/health/ready`, { signal: AbortSignal.timeout(2_000) });
      const text = await response.text();
      return response.status === 200 && !isIncomplete.test(text) ? '' : `${name}: ${text}`;
    } catch {
      return `an answer of ${name}`;
    }
  }

  url(name = 'web.1'): string {
    const port = this.#ports.get(name);
    if (port === undefined) throw new Error(`there is no front ${name}`);
    return `http://${this.#hostOf(name)}:${port}`;
  }

  #hostOf(name: string): string {
    return this.options.hosts === 'several' ? `127.0.0.${1 + Number(name.split('.')[1])}` : '127.0.0.1';
  }

  /** A client of one front, with its own connections. @param connections maximum; further requests wait */
  client(name = 'web.1', connections = 8): Client {
    const client = new Client(() => this.url(name), this.#secrets(), connections);
    this.#clients.push(client);
    return client;
  }

  /** Strings that no answer may contain: keys, and paths of the program. */
  #secrets(): string[] {
    const keys = Object.values(this.#files).flatMap((json) => [
      ...JSON.stringify(json).matchAll(/"apiKeys":(\[[^\]]*\])/g),
    ]);
    return [...keys.flatMap(([, list]) => JSON.parse(list ?? '[]') as string[]), root, this.folder];
  }

  /**
   * Activates a configuration, as `npm run apply` does, and waits until every process runs it and
   * everything that it changes is rebuilt.
   */
  async apply(files: ConfigFiles): Promise<void> {
    const generation = await this.publish(files);
    await this.rebuilt(generation);
  }

  /** Activates a configuration without waiting. @returns its generation */
  async publish(files: ConfigFiles): Promise<number> {
    const configuration = await this.#writeConfiguration(files);
    const { configDir } = this;
    const settings = { configDir, isConfigDirGiven: true, isConfigDirOwn: false, demo: false };
    const publisher = { onWarnings: () => {}, consent: () => {} };
    const { generation } = await applyFolder(await this.store(), settings, publisher);
    this.#configuration = configuration;
    return generation;
  }

  /** Waits until a generation runs everywhere and its rebuild is done. */
  async rebuilt(generation: number, timeoutMs = neverMs): Promise<void> {
    const store = await this.store();
    const queue = rebuildJobs(store);
    let last = '';
    try {
      await until(
        `every process runs generation ${generation} and it is rebuilt`,
        async () => {
          const processes = await liveProcesses(store);
          last = JSON.stringify(processes.map(({ role, generation }) => [role, generation]));
          if (!processes.every((process) => process.generation >= generation)) return false;
          const state = await rebuildState(store, queue, generation);
          last = JSON.stringify(state);
          const failure = state.failures.find(({ isFinal }) => isFinal);
          if (failure !== undefined) throw new Error(`partition ${failure.partition}: ${failure.reason}`);
          return state.isDone && state.isEnqueued;
        },
        timeoutMs,
      );
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : error}: ${last}`);
    } finally {
      await queue.close();
    }
  }

  async #writeConfiguration(files: ConfigFiles): Promise<Configuration> {
    this.#files = files;
    rmSync(this.configDir, { recursive: true, force: true });
    for (const [file, json] of Object.entries(files)) {
      const place = path.join(this.configDir, file);
      mkdirSync(path.dirname(place), { recursive: true });
      // Schemas in JavaScript are strings, which are written unchanged.
      const isCode = typeof json === 'string' && /\.(?:js|ts)$/.test(file);
      writeFileSync(place, isCode ? json : JSON.stringify(json));
    }
    const outcome = await readConfiguration(this.configDir);
    if (!outcome.ok) throw new Error(issueText(outcome.issues));
    return outcome.configuration;
  }

  /** The output of every process, or the end of each. */
  outputs(characters = Number.POSITIVE_INFINITY): string {
    return [...this.#processes.values()]
      .map(({ name, output }) => `--- ${name}\n${output.slice(-characters)}`)
      .join('\n');
  }

  /** A counter or gauge, summed over processes and labels. */
  async metric(name: string, front = this.fronts[0] ?? ''): Promise<number> {
    const text = await (await fetch(`${this.url(front)}/metrics`)).text();
    return text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }

  #throwSurprises(): void {
    const surprises = [...this.#processes.values()].flatMap((process) => process.surprises);
    if (surprises.length > 0) throw new Error(`${surprises.join('; ')}\n${this.outputs(charactersInErrors)}`);
  }

  /**
   * Stops everything: fronts, workers and jobs like an operator, then Redis.
   * @throws Error if a process exited by itself, did not end on request, or logged an internal error
   */
  async stop(): Promise<void> {
    for (const client of this.#clients) client.close();
    const all = [...this.#processes.values()];
    for (const role of ['web', 'worker', 'jobs']) {
      await Promise.all(all.filter(({ name }) => name.startsWith(role)).map((process) => process.stop()));
    }
    await (await this.#store)?.close();
    await this.own.redis?.stop();
    await this.own.cluster?.stop();
    await rm(this.folder, { recursive: true, force: true });
    this.#throwSurprises();
    const bugs = all.flatMap(({ name, output }) =>
      output.split('\n').flatMap((line) => (bugPattern.test(line) ? `${name}: ${line.slice(0, 2_000)}` : [])),
    );
    if (bugs.length > 0) throw new Error(`bugs of ours in the logs:\n${bugs.slice(0, 5).join('\n')}`);
  }
}

async function startStore(options: SystemOptions): Promise<OwnStore> {
  if (options.cluster !== undefined) return { redis: null, cluster: null };
  if (isOnCluster) return { redis: null, cluster: await RedisCluster.start() };
  return { redis: await RedisServer.start(options.redis), cluster: null };
}
