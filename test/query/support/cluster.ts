/** Fronts and workers with one store, all in this process, connected by real sockets. */
import type { TestContext } from 'node:test';
import type { Configuration, Tenant } from '../../../src/config/configuration.ts';
import { defaultFrontLimits } from '../../../src/contract/front-limits.ts';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { ScatterQueryService } from '../../../src/query/front/scatter-query-service.ts';
import type {
  GoodOutcome,
  QueryOutcome,
  QueryResult,
  QueryTarget,
  RowsResult,
} from '../../../src/query/query-service.ts';
import { groupCountFor } from '../../../src/query/worker/copies/shard-copies.ts';
import type { ItemChange } from '../../../src/store/derived/items.ts';
import { AutoFields } from '../../../src/store/entities/auto-fields.ts';
import { indexName } from '../../../src/store/keys.ts';
import type { Store } from '../../../src/store/store.ts';
import { Progress } from '../../../src/store/visibility/progress.ts';
import type { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { clientOf, configurationOf, environment, sourceId } from './site.ts';
import { TestWorker, type Way } from './worker.ts';

export interface Layout {
  readonly partitions: number;
  readonly workers: number;
  /** How fronts reach workers; absent: over Unix sockets. */
  readonly way?: Way;
  /** As `SHARD_COPIES`; absent: 1. */
  readonly copies?: number;
  /** Processor time of a query; absent: the documented default. */
  readonly queryCpuMs?: number;
  /** How long the front waits for an answer; absent: long, because the machine may be busy. */
  readonly queryWaitMs?: number;
  /** Tenants other than the one that `query` and `write` use. */
  readonly others?: readonly Tenant[];
}

const longWaitMs = 30_000;

export class TestCluster {
  readonly workers: TestWorker[] = [];
  #lastWorker = 0;

  private constructor(
    private readonly redis: TestRedis,
    private readonly database: number,
    readonly store: Store,
    readonly tenant: Tenant,
    readonly configuration: Configuration,
    readonly progress: Progress,
    readonly service: ScatterQueryService,
    private readonly layout: Layout,
  ) {}

  static async start(redis: TestRedis, tenant: Tenant, layout: Layout, database = 0): Promise<TestCluster> {
    const store = await redis.openEmptyStore(layout.partitions, { database });
    const progress = new Progress(store);
    progress.start();
    const autoFields = new AutoFields(store);
    const { queryWaitMs = longWaitMs, others = [] } = layout;
    const limits = { ...defaultFrontLimits, queryWaitMs };
    const service = new ScatterQueryService({ store, progress, autoFields, limits });
    const configuration = configurationOf(tenant, ...others);
    const cluster = new TestCluster(redis, database, store, tenant, configuration, progress, service, layout);
    const shares = Array.from({ length: layout.workers }, (_, worker) =>
      store.partitions.tags.flatMap((_, partition) =>
        partition % layout.workers === worker ? [partition] : [],
      ),
    );
    for (const share of shares) await cluster.addWorker(share);
    await cluster.untilCopied();
    await service.start();
    await until('the state of every partition is known', () => progress.ready);
    return cluster;
  }

  async addWorker(partitions: readonly number[]): Promise<TestWorker> {
    this.#lastWorker += 1;
    const store = await this.redis.openStore(this.store.partitions.count, { database: this.database });
    const { way, queryCpuMs, copies } = this.layout;
    const id = `worker-${this.#lastWorker}`;
    const worker = new TestWorker(store, id, this.configuration, way, queryCpuMs, copies);
    await worker.start(partitions);
    this.workers.push(worker);
    return worker;
  }

  /** Waits until every worker holds its group among the present workers, and no other. */
  async untilCopied(): Promise<void> {
    await until('the shard copies are loaded', () =>
      this.workers.every(({ copies }) => {
        const beat = copies?.beat;
        if (beat == null) return copies === null;
        const of = groupCountFor(this.workers.length, this.layout.copies ?? 1, this.store.partitions.count);
        return beat.ready.join() === beat.group && beat.group.endsWith(`/${of}`);
      }),
    );
    for (const worker of this.workers) worker.beat();
  }

  async stop(): Promise<void> {
    for (const worker of this.workers) await worker.stop();
    await this.service.close();
    this.progress.close();
  }

  /** Writes items of an index (null removes one) and waits until the front has seen the commits. */
  async write(
    index: string,
    items: ReadonlyMap<string, JsonObject | null>,
    updatedAtMs = 1000,
    tenant = this.tenant,
  ): Promise<void> {
    const byPartition = new Map<number, ItemChange[]>();
    const scope = { tenant: tenant.alias, environmentId: environment.id };
    for (const [originId, fields] of items) {
      const partition = this.store.partitions.ofEntity(sourceId, originId);
      const changes = byPartition.get(partition) ?? [];
      byPartition.set(partition, changes);
      const item = fields && { sourceId, originId, updatedAtMs, fields };
      changes.push({ scope, index, sourceId, originId, item });
    }
    await Promise.all(
      [...byPartition].map(async ([partition, changes]) => {
        const owner = this.workers.find((worker) => worker.owns(partition));
        const number = (await owner?.write(partition, changes)) ?? 0;
        await until('the commit is seen', () => (this.progress.commits[partition] ?? 0) >= number);
      }),
    );
  }

  run(target: QueryTarget, ...bodies: Json[]): Promise<QueryOutcome[]> {
    return this.runOf(this.tenant, target, ...bodies);
  }

  runOf(tenant: Tenant, target: QueryTarget, ...bodies: Json[]): Promise<QueryOutcome[]> {
    const queries = bodies.map((body) => ({ target, body }));
    return this.service.run(clientOf(tenant), queries, { minVersion: null });
  }

  /** One query of an index that must be valid. */
  async query(alias: string, body: Json): Promise<ReadResult> {
    const [outcome] = await this.run({ kind: 'index', alias }, body);
    if (!outcome?.ok) throw new Error(`invalid query: ${outcome?.errors.join('; ')}`);
    return readResult(outcome);
  }

  /** OriginIds of all items of an index, by token paging. */
  async allIds(alias: string): Promise<string[]> {
    const ids: string[] = [];
    let token: string | null = null;
    do {
      const pagination: Json = { pageSize: 7, nextPageToken: token };
      const { rows, nextPageToken }: ReadResult = await this.query(alias, {
        sort: [{ field: '_originId' }],
        pagination,
      });
      ids.push(...rows.map(({ originId }) => originId));
      token = nextPageToken;
    } while (token !== null);
    return ids;
  }
}

/** The content of an outcome, in either form. */
export type ReadResult = Omit<RowsResult, 'kind'>;

export function readResult({ result }: GoodOutcome): ReadResult {
  if (result.kind === 'rows') return result;
  const { totalResults, results, facets, nextPageToken } = JSON.parse(result.text.toString());
  const rows = results.map((row: { _originId: string; _sourceGuid: string }) => ({
    originId: row._originId,
    sourceId: row._sourceGuid,
    text: Buffer.from(JSON.stringify(row)),
  }));
  return { totalResults, rows, facets, nextPageToken, aliases: [] };
}

/** The text of an outcome, or its errors. */
export function textOf(outcome: QueryOutcome): string {
  const shown = (result: QueryResult) =>
    result.kind === 'text' ? result.text.toString() : JSON.stringify(result);
  return outcome.ok ? shown(outcome.result) : JSON.stringify(outcome);
}

/** Index name of an index schema, and of an auto-indexed type of the group `cms`. */
export const schemaIndex = indexName.schema;
export const autoIndex = (type: string) => indexName.auto('cms', type);

/** A cluster that stops when the test ends. */
export async function startCluster(
  context: TestContext,
  redis: TestRedis,
  tenant: Tenant,
  layout: Layout,
): Promise<TestCluster> {
  const cluster = await TestCluster.start(redis, tenant, layout);
  context.after(() => cluster.stop());
  return cluster;
}

/** Items to write: `item-0`, `item-1` and so on; null removes one. */
export function numbered(
  count: number,
  fieldsOf: (number: number) => JsonObject = (size) => ({ size }),
): Map<string, JsonObject | null> {
  return new Map(Array.from({ length: count }, (_, number) => [`item-${number}`, fieldsOf(number)]));
}

/** The number of items in the index `things`. */
export async function totalOf(cluster: TestCluster): Promise<number> {
  return (await cluster.query('things', { pagination: { pageSize: 0 } })).totalResults;
}
