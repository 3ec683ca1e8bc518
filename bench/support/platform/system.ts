/** Runs the real platform for a benchmark: private Redis, fronts, workers and jobs, started by the code of `npm start`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { supervisedVariable } from '../../../src/cli/bootstrap/procfile-entry.mjs';
import {
  publishAtStart,
  readSoundConfiguration,
} from '../../../src/cli/configuration/publish-configuration.ts';
import { withStore } from '../../../src/cli/platform/open-store.ts';
import type { Child } from '../../../src/cli/start/child.ts';
import { waitUntilReady } from '../../../src/cli/start/platform.ts';
import { requireFreePort } from '../../../src/cli/start/ports.ts';
import { startPrivateRedis } from '../../../src/cli/start/private-redis.ts';
import { Output, type ProcfileEntry, parseProcfile, Supervisor } from '../../../src/cli/start/supervisor.ts';
import { CommandStop } from '../../../src/cli/terminal/command-line.ts';
import { readSettings } from '../../../src/config/settings/settings.ts';
import type { StoreOptions } from '../../../src/store/store.ts';
import type { BenchContext } from '../bench.ts';
import { type BenchTenant, writeTenants } from '../data/tenant.ts';
import { host, ports } from '../ports.ts';

export interface SystemOptions {
  readonly tenants: readonly BenchTenant[];
  /** Settings other than the defaults. */
  readonly env?: Readonly<Record<string, string>>;
  /** Address of the front; absent: the loopback address. */
  readonly frontHost?: string;
  /** Words before the command of the front, which pin it to a core. */
  readonly frontPrefix?: readonly string[];
  /** Of the first front; absent: the usual one. */
  readonly firstPort?: number;
  /** Fronts, each at a port of its own, and workers; absent: one. */
  readonly fronts?: number;
  readonly workers?: number;
}

const root = fileURLToPath(new URL('../../../', import.meta.url));
const procfile = fileURLToPath(new URL('../../../Procfile', import.meta.url));
const stopGraceMs = 8_000;
const watchMs = 100;
const readyPollMs = 20;
const redisTimeoutMs = 5_000;
/** Settings that are taken out of the environment, so that the benchmark runs with the defaults. */
const settingNames = [
  'REDIS_URL',
  'REDIS_CLUSTER',
  'REDIS_SENTINEL',
  'REDIS_SENTINEL_NAME',
  'WEB',
  'WORKERS',
  'SHARD_COPIES',
  'PARTITIONS',
  'HEADER_PREFIX',
  'APPEND_FSYNC',
  'DELIVERY_CACHE_MB',
];

let systems = 0;

export class System {
  private workers: readonly Child[];
  private isStopped = false;

  private constructor(
    private readonly context: BenchContext,
    private readonly supervisor: Supervisor,
    private readonly environment: NodeJS.ProcessEnv,
    private readonly fronts: readonly Child[],
    /** Address of each front. */
    readonly baseUrls: readonly string[],
    workers: number,
  ) {
    this.workers = Array.from({ length: workers }, () => this.startEntry('worker'));
    this.startEntry('jobs');
  }

  /** Resolves once the platform is ready. It ends with the run, or with `stop`. */
  static async start(context: BenchContext, options: SystemOptions): Promise<System> {
    systems += 1;
    const folder = path.join(context.folder, `system-${systems}`);
    const { frontHost = host, firstPort = ports.millrace } = options;
    const environment = environmentOf(folder, { HOST: frontHost, PORT: String(firstPort), ...options.env });
    const settings = readSettings(environment);
    writeTenants(settings.configDir, options.tenants);
    mkdirSync(settings.dataDir, { recursive: true, mode: 0o700 });
    const frontPorts = Array.from({ length: options.fronts ?? 1 }, (_, number) => firstPort + number);
    for (const port of frontPorts) await requireFreePort(frontHost, port);
    const configuration = await readSoundConfiguration(settings.configDir);
    const supervisor = new Supervisor(new Output(process.stderr));
    context.onEnd(() => supervisor.stop());
    const { dataDir, appendFsync } = settings;
    const { signal } = context;
    const url = await startPrivateRedis({ dataDir, appendFsync, supervisor, signal });
    await withStore({ kind: 'single', url }, settings, redisTimeoutMs, (store) =>
      publishAtStart(store, settings, configuration, () => {}),
    );
    const processEnvironment = {
      ...environment,
      REDIS_URL: url,
      [supervisedVariable]: '1',
    };
    const fronts = frontPorts.map((port) =>
      startProcess(
        supervisor,
        'web',
        { ...processEnvironment, PORT: String(port) },
        options.frontPrefix ?? [],
      ),
    );
    const urls = frontPorts.map((port) => `http://${frontHost}:${port}`);
    const system = new System(context, supervisor, processEnvironment, fronts, urls, options.workers ?? 1);
    await system.ready();
    return system;
  }

  /** Address of the first front. */
  get baseUrl(): string {
    return this.baseUrls[0] ?? '';
  }

  /** Of the first worker. */
  get workerPid(): number | undefined {
    return this.workers[0]?.pid;
  }

  /** Of the first front. */
  get frontPid(): number | undefined {
    return this.fronts[0]?.pid;
  }

  get workerPids(): readonly number[] {
    return this.workers.flatMap(({ pid = [] }) => pid);
  }

  get frontPids(): readonly number[] {
    return this.fronts.flatMap(({ pid = [] }) => pid);
  }

  get redisUrl(): string {
    return this.environment.REDIS_URL ?? '';
  }

  /** For `openStore`. */
  get storeOptions(): StoreOptions {
    const { partitions } = readSettings(this.environment);
    return { address: { kind: 'single', url: this.redisUrl }, partitionCount: partitions };
  }

  /** Waits until the platform is ready. @throws CommandStop when one of the processes ends instead */
  async ready(): Promise<void> {
    const broken = new AbortController();
    const watch = setInterval(() => {
      const ended = [...this.fronts, ...this.workers].find(({ pid }) => pid === undefined);
      if (ended !== undefined) broken.abort(new CommandStop(`${ended.name} ended before it was ready`));
    }, watchMs);
    const signal = AbortSignal.any([this.context.signal, broken.signal]);
    try {
      for (const url of this.baseUrls) await waitUntilReady(url, signal, () => {});
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      clearInterval(watch);
    }
  }

  /** Deletes the snapshots, so that the next worker starts without them. */
  removeSnapshots(): void {
    const { snapshotDir } = readSettings(this.environment);
    if (snapshotDir !== null) rmSync(snapshotDir, { recursive: true, force: true });
  }

  /** Stops all workers. */
  async stopWorker(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.stop(stopGraceMs)));
  }

  /** Starts a new worker process in place of each stopped one. */
  startWorker(): void {
    this.workers = this.workers.map(() => this.startEntry('worker'));
  }

  /**
   * Stops all workers, waits until the first front knows, and starts others in their place.
   * @param between called while none runs
   * @returns seconds from their start until the platform is ready
   */
  async restartWorkers(between: () => void = () => {}): Promise<number> {
    await this.stopWorker();
    between();
    while (await this.isReady()) await sleep(readyPollMs, undefined, { signal: this.context.signal });
    const startedMs = performance.now();
    this.startWorker();
    while (!(await this.isReady())) {
      if (this.workerPid === undefined) throw new Error('the worker ended before it was ready');
      await sleep(readyPollMs, undefined, { signal: this.context.signal });
    }
    return (performance.now() - startedMs) / 1000;
  }

  /** False also while the front responds with 200 because it is only degraded, as it is without a worker. */
  private async isReady(): Promise<boolean> {
    const response = await fetch(`${this.baseUrl}/health/ready`);
    const { degraded }: { degraded?: readonly string[] } = JSON.parse(await response.text());
    return response.status === 200 && degraded === undefined;
  }

  /**
   * Runs `npm run apply` with other tenant files until everything is rebuilt.
   * @param words options of the command
   * @throws Error with its output when it fails
   */
  async apply(tenants: readonly BenchTenant[], words: readonly string[] = []): Promise<void> {
    writeTenants(readSettings(this.environment).configDir, tenants);
    await this.run('apply', words);
  }

  /** Runs an npm script against this platform. @throws Error with its output when it fails */
  async run(script: string, words: readonly string[]): Promise<void> {
    const child = spawn(process.execPath, [...wordsOfScript(script), ...words], {
      cwd: root,
      env: this.environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (piece: Buffer) => {
      said += piece.toString();
    });
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`${script} ended with ${code}: ${said}`);
  }

  async stop(): Promise<void> {
    if (this.isStopped) return;
    this.isStopped = true;
    await this.supervisor.stop();
  }

  private startEntry(name: string): Child {
    return startProcess(this.supervisor, name, this.environment, []);
  }
}

/** Starts a process that is not kept running: if it dies, the benchmark is broken. */
function startProcess(
  supervisor: Supervisor,
  name: string,
  env: NodeJS.ProcessEnv,
  prefix: readonly string[],
): Child {
  const entry = entryOf(name);
  const command = entry.program === 'node' ? process.execPath : entry.program;
  const [program = command, ...words] = [...prefix, command, ...entry.words];
  return supervisor.add(name, {
    command: { name, program, words, env },
    endBy: 'signal',
    follow: (lines) => lines.on('data', (piece: Buffer) => process.stderr.write(piece)),
  });
}

/** The words of an npm script, to run it without npm. */
function wordsOfScript(name: string): string[] {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(
    readFileSync(path.join(root, 'package.json'), 'utf8'),
  );
  const [exec, program, ...words] = scripts[name]?.split(' ') ?? [];
  if (exec !== 'exec' || program !== 'node') throw new Error(`npm run ${name} is not one node`);
  return words;
}

function entryOf(name: string): ProcfileEntry {
  const entry = parseProcfile(readFileSync(procfile, 'utf8'), path.dirname(procfile)).find(
    (one) => one.name === name,
  );
  if (entry === undefined) throw new Error(`the Procfile has no ${name}`);
  return entry;
}

function environmentOf(folder: string, given: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !settingNames.includes(name)),
  );
  return {
    ...inherited,
    CONFIG_DIR: path.join(folder, 'config'),
    DATA_DIR: path.join(folder, 'data'),
    LOG_LEVEL: 'warn',
    WORKERS: '1',
    ...given,
  };
}
