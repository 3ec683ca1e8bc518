/** Reads the current state of views: whether they exist, and under which URLs and handles they are served. */
import { isDeepStrictEqual } from 'node:util';
import type { EntityRef } from '../contract/ids.ts';
import { groupBy } from '../lib/lists.ts';
import type { LogReader } from '../store/change-log/entries.ts';
import type { LoggedView } from '../store/change-log/logged-views.ts';
import { readRemovedViews } from '../store/change-log/reported-views.ts';
import { type ClaimOfView, readService, type ServiceState } from '../store/change-log/served.ts';
import { readProcessedOf } from '../store/derived/processed.ts';
import type { Destination, FormerClaim, ProcessedRecord } from '../store/derived/processed-record.ts';
import type { EnvironmentScope } from '../store/scopes.ts';
import type { Store } from '../store/store.ts';

/** Current or former URLs, handles and redirects of a view. */
export interface Served {
  readonly urls: readonly string[];
  readonly handles: readonly string[];
  /** URLs that lead to it. */
  readonly redirects: readonly string[];
}

/** The state of a view in the feed (docs/reference/http.md "Changes"). */
export interface ViewState {
  readonly view: LoggedView;
  readonly isThere: boolean;
  /** Type of the entity when the view was last reported. */
  readonly type: string;
  /** Null if it is not stored with the view. */
  readonly sourceGroup: string | null;
  readonly served: Served;
  readonly left: Served;
  /** `claimField` of all claims in `served` and `left`. */
  readonly fields: readonly string[];
  /** Webhooks that its schema selects for it, or selected last. */
  readonly destinations: readonly Destination[];
  /** Views that it refers to (`referenceText`). */
  readonly references: readonly string[];
}

/** A view with its current and former claims. */
interface Claimant
  extends Pick<ViewState, 'view' | 'isThere' | 'type' | 'sourceGroup' | 'references' | 'destinations'> {
  readonly claims: readonly ClaimOfView[];
}

/** Maximum number of reads of a view that changes meanwhile. It is reported again anyway, with that change. */
const readingsMax = 3;

/**
 * States in the given order; null for a view that does not exist and was not removed within the retention.
 * @param keptSince in microseconds; claims that were lost before are not reported
 * @throws StoreUnavailableError
 */
export async function readViewStates(
  store: Store,
  log: LogReader,
  views: readonly LoggedView[],
  keptSince: number,
): Promise<(ViewState | null)[]> {
  const states = new Map<LoggedView, ViewState | null>();
  let claimants = new Map(await readClaimants(store, log, views));
  for (let reading = 1; claimants.size > 0; reading += 1) {
    const service = await readServiceOf(store, log, claimants, keptSince);
    for (const [view, claimant] of claimants) states.set(view, claimant && stateOf(claimant, service));
    claimants = reading < readingsMax ? await readTorn(store, log, claimants, service) : new Map();
  }
  return views.map((view) => states.get(view) ?? null);
}

type Claimants = ReadonlyMap<LoggedView, Claimant | null>;
type Service = ReadonlyMap<ClaimOfView, ServiceState>;

async function readServiceOf(
  store: Store,
  log: LogReader,
  claimants: Claimants,
  keptSince: number,
): Promise<Service> {
  const claims = [...claimants.values()].flatMap((claimant) => claimant?.claims ?? []);
  const service = await readService(store, log.scope, claims, keptSince);
  return new Map(claims.map((claim, at) => [claim, service[at] ?? 'never']));
}

/**
 * Detects inconsistent reads: a view that changes between reading its record and its claims may appear to be served nowhere.
 * @returns the changed views, read again
 */
async function readTorn(
  store: Store,
  log: LogReader,
  claimants: Claimants,
  service: Service,
): Promise<Map<LoggedView, Claimant | null>> {
  const unserved = [...claimants].flatMap(([view, claimant]) =>
    claimant?.claims.some((claim) => claim.sinceStamp !== null && service.get(claim) !== 'served')
      ? [view]
      : [],
  );
  const now = await readClaimants(store, log, unserved);
  return new Map(now.filter(([view, claimant]) => !isDeepStrictEqual(claimant, claimants.get(view))));
}

function stateOf({ claims, ...state }: Claimant, service: Service): ViewState {
  const inState = (wanted: ServiceState) => claims.filter((claim) => service.get(claim) === wanted);
  const [served, left] = [inState('served'), inState('left')];
  const fields = [...served, ...left].map(({ field }) => field);
  return { ...state, served: servedAs(served), left: servedAs(left), fields };
}

function servedAs(claims: readonly ClaimOfView[]): Served {
  const urls: string[] = [];
  const handles: string[] = [];
  const redirects: string[] = [];
  for (const { kind, field, display } of claims) {
    (kind === 'redirect' ? redirects : field.startsWith('h:') ? handles : urls).push(display);
  }
  return { urls, handles, redirects };
}

async function readClaimants(
  store: Store,
  log: LogReader,
  views: readonly LoggedView[],
): Promise<[LoggedView, Claimant | null][]> {
  const records = await readProcessedOf(store, log.scope.tenant, views);
  const found = views.map((view, at) => presentClaimant(view, records[at] ?? null, log.scope));
  const gone = views.filter((_, at) => found[at] === null);
  const removed = new Map<LoggedView, Claimant>();
  const partitionOf = ({ sourceId, originId }: EntityRef) => store.partitions.ofEntity(sourceId, originId);
  await Promise.all(
    [...groupBy(gone, partitionOf)].map(async ([partition, group]) => {
      const were = await readRemovedViews(store, store.partitions.tag(partition), log.scope, group);
      group.forEach((view, at) => {
        const was = were[at] ?? null;
        if (was === null) return;
        const { type, sourceGroup, claims, destinations = [] } = was;
        const former = claims.map((claim) => formerClaim(view, claim));
        removed.set(view, {
          view,
          isThere: false,
          type,
          sourceGroup,
          claims: former,
          references: [],
          destinations,
        });
      });
    }),
  );
  return views.map((view, at) => [view, found[at] ?? removed.get(view) ?? null]);
}

function presentClaimant(
  view: LoggedView,
  record: ProcessedRecord | null,
  { environmentId }: EnvironmentScope,
): Claimant | null {
  const output = record?.outputs.find(
    ({ kind, environmentId: of, name }) => kind === 'view' && of === environmentId && name === view.alias,
  );
  // A restored record lists views that are not yet built.
  if (record === null || output === undefined || output.bytesDigest.length === 0) return null;
  const {
    claims,
    formerClaims = [],
    reportedType = record.type,
    references = [],
    destinations = [],
  } = output;
  return {
    view,
    isThere: true,
    type: reportedType,
    sourceGroup: null,
    references,
    destinations,
    claims: [
      ...claims.map(({ field, host, kind, display, sinceStamp }) => ({
        view,
        field,
        host,
        kind,
        display,
        sinceStamp,
      })),
      ...formerClaims.map((claim) => formerClaim(view, claim)),
    ],
  };
}

function formerClaim(view: LoggedView, claim: FormerClaim): ClaimOfView {
  return { view, ...claim, sinceStamp: null };
}
