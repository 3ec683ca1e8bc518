/** Builds the views and items of a batch, answering their lookups in rounds. */
import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import type { BuildOutcome, BuiltItem, BuiltView, LookupQuery, ViewClaims } from '../schemas/types.ts';
import { keysOf, type LookupDemand, type LookupSource } from './lookup-source.ts';
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
  /** Keys of the lookups that the result rests on. */
  dependsOn: (readonly [sourceId: string, lookupKey: string])[];
}

/** Longest time without letting other work of the process run. */
const sliceMs = 15;
/** Lookups inside the items of lookups: each level takes a round. */
const roundsMax = 16;

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
        dependsOn: [],
      }));
  });
}

/** Runs the builds until no lookup is open. @throws FencedError, StoreUnavailableError */
export async function runBuilds(builds: readonly Build[], lookups: LookupSource): Promise<void> {
  let open = builds;
  let sliceStartMs = performance.now();
  for (let round = 0; open.length > 0 && round < roundsMax; round += 1) {
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
function runOnce(build: Build, lookups: LookupSource): LookupDemand[] {
  const { turn, maker, member } = build;
  const { place, entity } = turn;
  if (place === null || entity === null) return [];
  const demandOf = (query: LookupQuery): LookupDemand => ({
    tenant: place.tenant,
    environmentId: maker.environmentId,
    sourceGroup: place.source.sourceGroup,
    query,
    member,
  });
  const input = buildInput(place.tenant, entity, maker.environmentId, (query) =>
    lookups.known(demandOf(query)),
  );
  build.built = buildWith(maker, input);
  const outcome = outcomeOf(build.built);
  const keys = (outcome?.lookups ?? []).flatMap((query) => keysOf(demandOf(query)));
  build.dependsOn = [...new Map(keys.map((key) => [`${key.sourceId}:${key.lookupKey}`, key])).values()].map(
    ({ sourceId, lookupKey }) => [sourceId, lookupKey],
  );
  const pending = (outcome?.pending ?? []).map(demandOf);
  for (const { sourceId, lookupKey } of pending.flatMap(keysOf)) {
    build.registered.set(`${sourceId}:${lookupKey}`, [sourceId, lookupKey]);
  }
  return pending;
}

function buildWith(maker: Maker, input: ReturnType<typeof buildInput>): Built {
  if (maker.kind === 'view') {
    return { kind: 'view', view: maker.schema.build(input), claims: maker.schema.claims(input) };
  }
  return { kind: 'item', item: maker.schema === null ? null : maker.schema.build(input) };
}

function outcomeOf(built: Built): BuildOutcome | null {
  return built.kind === 'view' ? built.view : built.item;
}
