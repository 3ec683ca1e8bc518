/** Builds the views and items of a batch, answering their lookups in rounds. */
import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import type { StoredEntity } from '../../contract/entity.ts';
import type { BuildInput } from '../../schemas/build/input.ts';
import type { BuildOutcome, BuiltItem, BuiltView } from '../../schemas/build/outcome.ts';
import type { LookupQuery } from '../../schemas/lookup/query.ts';
import type { ViewClaims } from '../../schemas/schema.ts';
import { keysOf, type LookupAnswers, type LookupDemand } from './lookup-source.ts';
import { buildInput, type Maker, makersFor, memberOf } from './maker.ts';
import type { Turn } from './turn.ts';

export type Built =
  | { readonly kind: 'view'; readonly view: BuiltView; readonly claims: ViewClaims }
  | { readonly kind: 'item'; readonly item: BuiltItem | null };

type SourceKey = readonly [sourceId: string, lookupKey: string];

const notBuilt: Built = { kind: 'item', item: null };
const noKeys: ReadonlyMap<string, SourceKey> = new Map();

/** A view or an item of one turn. Most rest on no lookup, and nothing is set aside for lookups then. */
export class Build {
  built: Built = notBuilt;
  /** It needs a lookup index that is not whole yet: nothing is made now, and the rebuild job comes back to it. */
  isDeferred = false;
  /** Lookups that the result rests on. */
  demands: readonly LookupDemand[] = [];
  /** Keys of the lookups that the result rests on. */
  dependsOn: readonly SourceKey[] = [];
  #member: string | null = null;
  #registered: Map<string, SourceKey> | null = null;

  constructor(
    readonly turn: Turn,
    readonly maker: Maker,
  ) {}

  /** Its name, as lookups register it. */
  get member(): string {
    this.#member ??= memberOf(this.maker, this.turn);
    return this.#member;
  }

  /** Lookup keys that this build was registered under, by `<source>:<key>`. */
  get registered(): ReadonlyMap<string, SourceKey> {
    return this.#registered ?? noKeys;
  }

  /** Builds with the results that are known; returns the lookups that are not. */
  run(lookups: LookupAnswers): readonly LookupDemand[] {
    const { place, entity } = this.turn;
    if (place === null || entity === null) return [];
    this.built = builtBy(this.maker, this.#input(place, entity, lookups));
    const outcome = outcomeOf(this.built);
    if (outcome === null || outcome.lookups.length === 0) {
      this.isDeferred = false;
      this.demands = [];
      this.dependsOn = [];
      return [];
    }
    this.demands = outcome.lookups.map((query) => this.#demand(place, query));
    this.dependsOn = [...keysByName(this.demands).values()];
    const pending = outcome.pending.map((query) => this.#demand(place, query));
    this.#registered ??= new Map();
    for (const [name, key] of keysByName(pending)) this.#registered.set(name, key);
    this.isDeferred = !pending.every((demand) => lookups.isAnswerable(demand));
    return this.isDeferred ? [] : pending;
  }

  #input(place: NonNullable<Turn['place']>, entity: StoredEntity, lookups: LookupAnswers): BuildInput {
    const { environmentId } = this.maker;
    return buildInput(place.tenant, entity, environmentId, (query) =>
      lookups.known(this.#demand(place, query)),
    );
  }

  #demand({ tenant, source }: NonNullable<Turn['place']>, query: LookupQuery): LookupDemand {
    const { environmentId } = this.maker;
    return { tenant, environmentId, sourceGroup: source.sourceGroup, query, member: this.member };
  }
}

function keysByName(demands: readonly LookupDemand[]): Map<string, SourceKey> {
  const keys = demands.flatMap(keysOf);
  return new Map(keys.map(({ sourceId, lookupKey }) => [`${sourceId}:${lookupKey}`, [sourceId, lookupKey]]));
}

/** Longest time without letting other work of the process run. */
const sliceMs = 15;

/** What the turns ask to build, not yet built; those of one turn stand together, in the order of the turns. */
export function buildsOf(turns: readonly Turn[]): Build[] {
  const builds: Build[] = [];
  for (const turn of turns) {
    const { place, entity, only } = turn;
    if (place === null || entity === null) continue;
    for (const maker of makersFor(place.tenant, place.source, entity.type)) {
      const build = new Build(turn, maker);
      if (only === null || only.has(build.member)) builds.push(build);
    }
  }
  return builds;
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
      const pending = build.run(lookups);
      if (pending.length > 0) {
        for (const demand of pending) demands.push(demand);
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

function builtBy(maker: Maker, input: BuildInput): Built {
  if (maker.kind === 'view') {
    return { kind: 'view', view: maker.schema.build(input), claims: maker.schema.claims(input) };
  }
  return { kind: 'item', item: maker.schema === null ? null : maker.schema.build(input) };
}

export function outcomeOf(built: Built): BuildOutcome | null {
  return built.kind === 'view' ? built.view : built.item;
}
