/** A front in this process with a real Redis. Nothing processes its streams: tests write views and claims themselves. */

import { defaultFrontLimits } from '../../../src/contract/front-limits.ts';
import { openRequestsPerSecond } from '../../../src/contract/limits.ts';
import { LiveFeeds } from '../../../src/feed/live-feeds.ts';
import { AnswerCache } from '../../../src/http/cache/answer-cache.ts';
import type { RowViews } from '../../../src/http/cache/finished-answer.ts';
import { ReferencedViewCache } from '../../../src/http/cache/referenced-views.ts';
import { LiveAnswers } from '../../../src/http/delivery/live-answers.ts';
import { LargeAnswers } from '../../../src/http/delivery/view-loading.ts';
import { handlersFor } from '../../../src/http/handlers.ts';
import { EntityReader } from '../../../src/http/ingest/entity-reader.ts';
import { IngestRateController } from '../../../src/http/ingest/rate-controller.ts';
import { VisibilityWaits } from '../../../src/http/ingest/writes-under-way.ts';
import { createLog, type Log } from '../../../src/http/log.ts';
import { RecentRates } from '../../../src/http/operations/front-load.ts';
import { FrontMetrics } from '../../../src/http/operations/front-metrics.ts';
import type { Readiness } from '../../../src/http/operations/readiness.ts';
import { HttpServer } from '../../../src/http/server.ts';
import type { Services } from '../../../src/http/services.ts';
import { type QueryService, UnavailableError } from '../../../src/query/query-service.ts';
import { LayoutStates } from '../../../src/store/configuration/layouts.ts';
import { AutoFields } from '../../../src/store/entities/auto-fields.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import { Progress } from '../../../src/store/visibility/progress.ts';
import { AddressGuard } from '../../../src/webhooks/allowed-addresses.ts';
import { TestRedis } from '../../support/redis.ts';
import { testConfiguration } from './site.ts';

/** A front with everything that it needs. */
export const whole: Readiness = {
  waitingFor: [],
  isRedisReachable: true,
  faults: [],
  unknown: [],
  partitionsWithoutOwner: 0,
  server: null,
};

export interface TestFront {
  readonly port: number;
  readonly url: string;
  readonly store: Store;
  readonly server: HttpServer;
  readonly redis: TestRedis;
  readonly largeAnswers: LargeAnswers;
  /** Requests `path` with an API key. */
  call(method: string, path: string, options?: CallOptions): Promise<CallAnswer>;
  stop(): Promise<void>;
}

export interface CallOptions {
  readonly key?: string;
  /** Sent as JSON, unless it is a string. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface CallAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes.
  readonly json: any;
}

export interface FrontOptions {
  readonly services?: Partial<Services>;
  /** As the setting. */
  readonly rateLimit?: number;
  /** As the setting; absent: its default. */
  readonly openRateLimit?: number;
  /** Absent: nothing is written. */
  readonly log?: Log;
}

/** There are no workers that would answer. */
const noQueries: QueryService = {
  run: () => Promise.reject(new UnavailableError('no worker answers')),
};

export async function startFront({
  services: given,
  rateLimit = 0,
  openRateLimit = openRequestsPerSecond,
  log = createLog('test', 'fatal'),
}: FrontOptions = {}): Promise<TestFront> {
  const redis = await TestRedis.open();
  const store = await openStore({
    address: { kind: 'single', url: redis.url },
    partitionCount: 4,
    commandTimeoutMs: 5000,
  });
  const limits = { ...defaultFrontLimits, ...given?.limits };
  const progress = new Progress(store);
  const cache = new AnswerCache(16 * 1024 * 1024);
  const rowViews = new AnswerCache<RowViews>(4 * 1024 * 1024);
  const referencedViews = new ReferencedViewCache(4 * 1024 * 1024);
  progress.onChange((_partition, digests) => {
    cache.invalidate(digests);
    rowViews.invalidate(digests);
    referencedViews.invalidate(digests);
  });
  const configuration = { loaded: true, current: testConfiguration(), layouts: LayoutStates.none };
  const feeds = new LiveFeeds({ store, configuration, retentionMs: 86_400_000 }, () => {});
  progress.onChange(() => feeds.changed());
  const liveAnswers = new LiveAnswers(limits.unsentAnswersBytes);
  progress.onChange((_partition, digests) => liveAnswers.changed(digests));
  const pace = new IngestRateController(progress, limits);
  progress.start();
  const entityReader = new EntityReader(log);
  const services: Services = {
    store,
    configuration,
    progress,
    pace,
    visibilityWaits: new VisibilityWaits(progress),
    query: noQueries,
    cache,
    rowViews,
    referencedViews,
    feeds,
    liveAnswers,
    webhookGuard: new AddressGuard([]),
    recentRates: new RecentRates(),
    largeAnswers: new LargeAnswers(),
    autoFields: new AutoFields(store),
    entityReader,
    metrics: new FrontMetrics('test'),
    limits,
    consoleFiles: null,
    metricsKeyHash: null,
    headerPrefixes: ['X-Acme', 'X-Service'],
    readiness: async () => whole,
    ...given,
  };
  const server = new HttpServer({ services, handlers: handlersFor(services), log, rateLimit, openRateLimit });
  const port = await server.listen('127.0.0.1', 0);
  const url = `http://127.0.0.1:${port}`;
  return {
    port,
    url,
    store,
    server,
    redis,
    largeAnswers: services.largeAnswers,
    call: (method, path, options = {}) => call(url, method, path, options),
    stop: async () => {
      feeds.close();
      await server.close();
      progress.close();
      await entityReader.close();
      await store.close();
      await redis.stop();
    },
  };
}

async function call(url: string, method: string, path: string, options: CallOptions): Promise<CallAnswer> {
  const { key, body, headers } = options;
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...(key === undefined ? {} : { 'X-Api-Key': key }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: jsonOf(text) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
