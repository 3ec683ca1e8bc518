/** Builds the views and items of a batch, answering their lookups in rounds. */
import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import type { BuildOutcome, BuiltItem, BuiltView, LookupQuery, ViewClaims } from '../schemas/types.ts';
import { keysOf, type LookupAnswers, type LookupDemand } from './lookup-source.ts';
import { buildInput, type Maker, makersFor, memberOf } from './maker.ts';
import type { Turn } from './turn.ts';

export type Built =
  | { readonly kind: 'view'; readonly view: BuiltView; readonly claims: ViewClaims }
  | { readonly kind: 'item'; readonly item: BuiltItem | null };

export interface Build {
  readonly turn: Turn;
  readonly maker: Maker;
  readonly member: string;
  /** Lookup keys that this build was registered under, by `<source>:<key>`. */
  readonly registered: Map<string, readonly [sourceId: string, lookupKey: string]>;
  built: Built;
  /** It needs a lookup index that is not whole yet: nothing is made now, and the rebuild job comes back to it. */
  isDeferred: boolean;
  /** Lookups that the result rests on. */
  demands: readonly LookupDemand[];
  /** Keys of the lookups that the result rests on. */
  dependsOn: (readonly [sourceId: string, lookupKey: string])[];
}

/** Longest time without letting other work of the process run. */
const sliceMs = 15;

/** What the turns ask to build, not yet built. */
export function buildsOf(turns: readonly Turn[]): Build[] {
  return turns.flatMap((turn) => {
    const { place, entity, only } = turn;
    if (place === null || entity === null) return [];
    return makersFor(place.tenant, place.source, entity.type)
      .map((maker) => ({ turn, maker, member: memberOf(maker, entity) }))
      .filter(({ member }) => only === null || only.has(member))
      .map((build) => ({
        ...build,
        registered: new Map(),
        built: { kind: 'item' as const, item: null },
        isDeferred: false,
        demands: [],
        dependsOn: [],
      }));
  });
}

/**
 * Runs the builds until no lookup is open. Each round answers at least one lookup of each open build, and a build does a
 * bounded number of them (`lookupsPerBuildMax`), so the rounds end. @throws FencedError, StoreUnavailableError */
export async function runBuilds(builds: readonly Build[], lookups: LookupAnswers): Promise<void> {
  let open = builds;
  let sliceStartMs = performance.now();
  while (open.length > 0) {
    const demands: LookupDemand[] = [];
    const waiting: Build[] = [];
    for (const build of open) {
      const pending = runOnce(build, lookups);
      if (pending.length > 0) {
        demands.push(...pending);
        waiting.push(build);
      }
      if (performance.now() - sliceStartMs < sliceMs) continue;
      await setImmediate();
      sliceStartMs = performance.now();
    }
    if (demands.length > 0) await lookups.resolve(demands);
    open = waiting;
  }
}

/** Builds with the results that are known; returns the lookups that are not. */
function runOnce(build: Build, lookups: LookupAnswers): LookupDemand[] {
  const { turn, maker, member } = build;
  const { place, entity } = turn;
  if (place === null || entity === null) return [];
  const { tenant, source } = place;
  const { environmentId } = maker;
  const demandOf = (query: LookupQuery): LookupDemand => ({
    tenant,
    environmentId,
    sourceGroup: source.sourceGroup,
    query,
    member,
  });
  const input = buildInput(tenant, entity, environmentId, (query) => lookups.known(demandOf(query)));
  build.built = buildWith(maker, input);
  const outcome = outcomeOf(build.built);
  build.demands = (outcome?.lookups ?? []).map(demandOf);
  const keys = build.demands.flatMap(keysOf);
  build.dependsOn = [...new Map(keys.map((key) => [`${key.sourceId}:${key.lookupKey}`, key])).values()].map(
    ({ sourceId, lookupKey }) => [sourceId, lookupKey],
  );
  const pending = (outcome?.pending ?? []).map(demandOf);
  for (const { sourceId, lookupKey } of pending.flatMap(keysOf)) {
    build.registered.set(`${sourceId}:${lookupKey}`, [sourceId, lookupKey]);
  }
  build.isDeferred = !pending.every((demand) => lookups.isAnswerable(demand));
  return build.isDeferred ? [] : pending;
}

function buildWith(maker: Maker, input: ReturnType<typeof buildInput>): Built {
  if (maker.kind === 'view') {
    return { kind: 'view', view: maker.schema.build(input), claims: maker.schema.claims(input) };
  }
  return { kind: 'item', item: maker.schema === null ? null : maker.schema.build(input) };
}

export function outcomeOf(built: Built): BuildOutcome | null {
  return built.kind === 'view' ? built.view : built.item;
}
