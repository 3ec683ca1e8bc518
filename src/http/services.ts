/** The dependencies of the handlers. */
import type { Configuration } from '../config/configuration.ts';
import type { ConsoleFile } from '../console/files.mjs';
import type { FrontLimits } from '../contract/front-limits.ts';
import type { LiveFeeds } from '../feed/live-feeds.ts';
import type { QueryService } from '../query/query-service.ts';
import type { LayoutStates } from '../store/configuration/layouts.ts';
import type { AutoFields } from '../store/entities/auto-fields.ts';
import type { Store } from '../store/store.ts';
import type { HighWaterMark, Version, VersionVector } from '../store/visibility/version.ts';
import type { AddressGuard } from '../webhooks/allowed-addresses.ts';
import type { AnswerCache } from './cache/answer-cache.ts';
import type { RowViews } from './cache/finished-answer.ts';
import type { ReferencedViewCache } from './cache/referenced-views.ts';
import type { LiveAnswers } from './delivery/live-answers.ts';
import type { LargeAnswers } from './delivery/view-loading.ts';
import type { EntityReader } from './ingest/entity-reader.ts';
import type { IngestRateController } from './ingest/rate-controller.ts';
import type { VisibilityWaits } from './ingest/writes-under-way.ts';
import type { RecentRates } from './operations/front-load.ts';
import type { FrontMetrics } from './operations/front-metrics.ts';
import type { Readiness } from './operations/readiness.ts';

/** The part of the store's `Progress` that the front needs. */
export interface ProgressView {
  waitForVersion(tenant: string, version: Version, timeoutMs: number): Promise<boolean>;
  catchUp(): Promise<HighWaterMark | null>;
  waitUntilNotified(highWaterMark: HighWaterMark, timeoutMs: number): Promise<boolean>;
  recordWritten(tenant: string, version: VersionVector): VersionVector;
}

export interface Services {
  readonly store: Store;
  readonly configuration: {
    /** False until there is a configuration; `current` must not be used before. */
    readonly loaded: boolean;
    readonly current: Configuration;
    readonly layouts: LayoutStates;
  };
  readonly progress: ProgressView;
  readonly pace: IngestRateController;
  readonly visibilityWaits: VisibilityWaits;
  readonly query: QueryService;
  readonly cache: AnswerCache;
  /** Views of the rows of query results. */
  readonly rowViews: AnswerCache<RowViews>;
  /** Views that other views reference. */
  readonly referencedViews: ReferencedViewCache;
  /** Answers of delivery that clients follow. */
  readonly liveAnswers: LiveAnswers;
  /** The changes of each environment. */
  readonly feeds: LiveFeeds;
  /** The allowed addresses of webhooks. */
  readonly webhookGuard: AddressGuard;
  readonly largeAnswers: LargeAnswers;
  readonly autoFields: AutoFields;
  readonly entityReader: EntityReader;
  readonly metrics: FrontMetrics;
  /** Recent request rates of all fronts. */
  readonly recentRates: Pick<RecentRates, 'samples'>;
  readonly limits: FrontLimits;
  /** Hash of the setting `METRICS_KEY`; null if the metrics are public. */
  readonly metricsKeyHash: string | null;
  /** Files of the console by name; null if it is turned off. */
  readonly consoleFiles: (() => Promise<ReadonlyMap<string, ConsoleFile>>) | null;
  /** The setting `HEADER_PREFIX`. */
  readonly headerPrefixes: readonly string[];
  readonly readiness: () => Promise<Readiness>;
}
