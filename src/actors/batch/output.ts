/** Builds the outputs of a batch, views and index items, and resolves their lookups in rounds. */

import type { Tenant } from '../../config/configuration.ts';
import type { StoredEntity } from '../../contract/entity.ts';
import type { Json } from '../../contract/json.ts';
import { runtimeLookupsMax, sliceMs } from '../../contract/limits.ts';
import { chain, type Resumable, type Steps, Suspended } from '../../lib/cooperative-yield.ts';
import { Slice } from '../../lib/slices/slice.ts';
import { type BuildInput, LongTexts } from '../../schemas/build/build-input.ts';
import type { BuildFailure, BuildOutcome, BuiltItem, BuiltView } from '../../schemas/build/build-outcome.ts';
import type { CodeCall } from '../../schemas/build/code-call.ts';
import type { LookupQuery } from '../../schemas/lookup-layout.ts';
import type { ResolvedDestination, ViewClaims } from '../../schemas/schema.ts';
import type { DeferredFor } from '../../store/partitions/pending-work.ts';
import { type Builder, buildersFor, dependentOf } from './builder.ts';
import { CodeReplies, type CodeSandbox, makeCalls, type PendingCall } from './code-replies.ts';
import { isBeyondLimit, keysOf, type LookupAnswers, type LookupDemand } from './lookup-source.ts';
import type { Turn } from './turn.ts';

export type BuildResult =
  | {
      readonly kind: 'view';
      readonly view: BuiltView;
      readonly claims: ViewClaims;
      readonly destinations: readonly ResolvedDestination[];
    }
  | { readonly kind: 'item'; readonly item: BuiltItem | null };

type SourceKey = readonly [sourceId: string, lookupKey: string];

const noResult: BuildResult = { kind: 'item', item: null };
const noKeys: ReadonlyMap<string, SourceKey> = new Map();

/** Data that an output waits for. Its build continues when all of it is known. */
interface Waiting {
  readonly demands: readonly LookupDemand[];
  readonly calls: readonly PendingCall[];
}

const waitsForNothing: Waiting = { demands: [], calls: [] };

/** A view or an item of a turn. Lookup state is allocated lazily, because most outputs have no lookups. */
export class Output {
  result: BuildResult = noResult;
  /**
   * Not null if the output is not built now: it waits for slow code, for an incomplete lookup index, or for another batch
   * because this one ran out of time.
   */
  deferredFor: DeferredFor | null = null;
  /** Lookups that the result depends on. */
  demands: readonly LookupDemand[] = [];
  /** Keys of the lookups that the result depends on. */
  dependsOn: readonly SourceKey[] = [];
  #dependent: string | null = null;
  #registered: Map<string, SourceKey> | null = null;
  /** Null until code is called, which JSON schemas never do. */
  #replies: CodeReplies | null = null;
  /** Null until a large value is inserted into a text. */
  #texts: LongTexts | null = null;

  constructor(
    readonly turn: Turn,
    readonly builder: Builder,
  ) {}

  get isDeferred(): boolean {
    return this.deferredFor !== null;
  }

  /** True if it called code that did not reply in time. */
  get isLate(): boolean {
    return this.#replies?.isLate ?? false;
  }

  /** Its name in registrations of lookups. */
  get dependent(): string {
    this.#dependent ??= dependentOf(this.builder, this.turn);
    return this.#dependent;
  }

  /** A name that is unique among all outputs of the store. */
  get name(): string {
    return `${this.turn.tenant}|${this.dependent}`;
  }

  /** Adds lookups that are resolved before the build needs them. */
  expect(demands: readonly LookupDemand[]): void {
    this.#registered ??= new Map();
    for (const [name, key] of keysByName(demands)) this.#registered.set(name, key);
  }

  /** Lookup keys for which this output is registered, by `<source>:<key>`. */
  get registered(): ReadonlyMap<string, SourceKey> {
    return this.#registered ?? noKeys;
  }

  /** The reason if the build failed; the last output is kept then. */
  get failure(): BuildFailure | null {
    return outcomeOf(this.result)?.failure ?? null;
  }

  /** Builds with the known results, in steps if that takes long. @returns the missing data */
  run(lookups: LookupAnswers): Resumable<Waiting> {
    const { place, entity } = this.turn;
    if (place === null || entity === null) return waitsForNothing;
    const made = resultOf(this.builder, this.#input(place, entity, lookups));
    return chain(made, (result) => {
      if (this.#texts?.isWanted) return new Suspended(this.#runWith(this.#texts, lookups));
      this.result = result;
      return this.#waitingFor(place, lookups);
    });
  }

  /** Creates the texts that a run has requested, and runs again. */
  *#runWith(texts: LongTexts, lookups: LookupAnswers): Steps<Waiting> {
    yield* texts.make();
    const made = this.run(lookups);
    return made instanceof Suspended ? yield* made.steps : made;
  }

  #waitingFor(place: NonNullable<Turn['place']>, lookups: LookupAnswers): Waiting {
    const outcome = outcomeOf(this.result);
    const calls = this.#replies?.take() ?? waitsForNothing.calls;
    if (outcome === null || outcome.lookups.length === 0) {
      this.deferredFor = null;
      this.demands = [];
      this.dependsOn = [];
      return calls.length === 0 ? waitsForNothing : { demands: [], calls };
    }
    this.demands = outcome.lookups.map((query) => this.#demand(place, query));
    this.dependsOn = [...keysByName(this.demands).values()];
    const pending = outcome.pending.map((query) => this.#demand(place, query));
    this.#registered ??= new Map();
    for (const [name, key] of keysByName(pending)) this.#registered.set(name, key);
    if (pending.every((demand) => lookups.isAnswerable(demand))) {
      this.deferredFor = null;
      return { demands: pending, calls };
    }
    if (pending.some(isBeyondLimit)) this.result = failedResult(this.result, tooManyLookups(pending));
    else this.deferredFor = 'index';
    return waitsForNothing;
  }

  #input(place: NonNullable<Turn['place']>, entity: StoredEntity, lookups: LookupAnswers): BuildInput {
    const { environmentId } = this.builder;
    const known = (query: LookupQuery) => lookups.known(this.#demand(place, query));
    const code = (key: string, call: () => CodeCall) => {
      this.#replies ??= new CodeReplies(this.name);
      return this.#replies.code(key, call);
    };
    const text = (value: Json) => {
      this.#texts ??= new LongTexts();
      return this.#texts.text(value);
    };
    return new TenantInput(place.tenant, entity, environmentId, known, code, text);
  }

  #demand({ tenant, source }: NonNullable<Turn['place']>, query: LookupQuery): LookupDemand {
    const { environmentId } = this.builder;
    return { tenant, environmentId, sourceGroup: source.sourceGroup, query, dependent: this.dependent };
  }
}

function keysByName(demands: readonly LookupDemand[]): Map<string, SourceKey> {
  const keys = demands.flatMap(keysOf);
  return new Map(keys.map(({ sourceId, lookupKey }) => [`${sourceId}:${lookupKey}`, [sourceId, lookupKey]]));
}

export function outputsOf(turn: Turn): Output[] {
  const { place, entity, only, state } = turn;
  if (place === null || entity === null || state !== 'published') return [];
  const outputs = buildersFor(place.tenant, place.source, entity.type).map(
    (builder) => new Output(turn, builder),
  );
  return only === null ? outputs : outputs.filter(({ dependent }) => only.has(dependent));
}

/**
 * Builds until no lookup and no call is open, except for outputs whose code has not replied in time. Each round resolves at
 * least one of each open output, and their number is bounded (`lookupsPerBuildMax`, `codeLookupRoundsMax`), so the rounds end.
 */
export async function buildOutputs(
  outputs: readonly Output[],
  lookups: LookupAnswers,
  sandbox: CodeSandbox,
  lookupsMs = Number.POSITIVE_INFINITY,
): Promise<void> {
  let open = outputs;
  const untilMs = performance.now() + lookupsMs;
  if (sandbox.lookups !== undefined && sandbox.lookups.size > 0) {
    await expectLookups(outputs, lookups, sandbox.lookups);
  }
  const slice = new Slice(sliceMs);
  while (open.length > 0) {
    const calls: PendingCall[] = [];
    const waiting: Output[] = [];
    const asking: [Output, readonly LookupDemand[]][] = [];
    for (const output of open) {
      const made = slice.begin(() => output.run(lookups));
      const pending = made instanceof Suspended ? await slice.run(made.steps) : made;
      if (pending.demands.length > 0 || pending.calls.length > 0) {
        if (pending.demands.length > 0) asking.push([output, pending.demands]);
        for (const call of pending.calls) calls.push(call);
        waiting.push(output);
      }
      if (slice.isOver) await slice.next();
    }
    await Promise.all([resolveUntil(untilMs, asking, lookups), makeCalls(sandbox, calls)]);
    for (const output of waiting) {
      if (!output.isLate) continue;
      output.deferredFor = 'code';
      sandbox.lookups?.set(output.name, output.demands);
    }
    open = waiting.filter(({ isDeferred }) => !isDeferred);
  }
}

/** Resolves the known lookups of restarted outputs together, because one after the other they would take as long as before. */
async function expectLookups(
  outputs: readonly Output[],
  lookups: LookupAnswers,
  known: ReadonlyMap<string, readonly LookupDemand[]>,
): Promise<void> {
  const expected = outputs.flatMap((output) => {
    const demands = known.get(output.name)?.filter((demand) => lookups.isAnswerable(demand)) ?? [];
    if (demands.length > 0) output.expect(demands);
    return demands;
  });
  if (expected.length > 0) await lookups.resolve(expected);
}

/** Number of outputs in the first round; its duration determines the size of the next. */
const outputsAtFirst = 16;
const outputsGrowth = 4;

/** Resolves the lookups of outputs until a time. The first ones are always resolved; the rest is deferred. */
async function resolveUntil(
  untilMs: number,
  asking: readonly (readonly [Output, readonly LookupDemand[]])[],
  lookups: LookupAnswers,
): Promise<void> {
  let count = untilMs === Number.POSITIVE_INFINITY ? asking.length : outputsAtFirst;
  for (let from = 0; from < asking.length; ) {
    if (count < 1) {
      for (const [output] of asking.slice(from)) output.deferredFor = 'time';
      return;
    }
    const startMs = performance.now();
    await lookups.resolve(asking.slice(from, from + count).flatMap(([, demands]) => demands));
    const nowMs = performance.now();
    from += count;
    count = Math.min(outputsGrowth * count, Math.floor((count * (untilMs - nowMs)) / (nowMs - startMs)));
  }
}

/** The failure of a lookup that will never have an index. */
function tooManyLookups([first]: readonly LookupDemand[]): BuildFailure {
  const message = `the schemas of the tenant use more than ${runtimeLookupsMax} kinds of lookups that are computed at run time`;
  return { message, place: first?.query.place ?? '$' };
}

function failedResult(result: BuildResult, failure: BuildFailure): BuildResult {
  if (result.kind === 'view') return { ...result, view: { ...result.view, failure } };
  return result.item === null ? result : { ...result, item: { ...result.item, failure } };
}

function resultOf(builder: Builder, input: BuildInput): Resumable<BuildResult> {
  if (builder.kind === 'view') {
    const { schema } = builder;
    return chain(schema.build(input), (view) =>
      chain(schema.claims(input), (claims) => ({
        kind: 'view',
        view,
        claims,
        destinations: schema.destinations(input),
      })),
    );
  }
  if (builder.schema === null) return noResult;
  return chain(builder.schema.build(input), (item) => ({ kind: 'item', item }));
}

/** Lookups and diagnostics of a build; null for an auto-indexed item, which has neither. */
export function outcomeOf(result: BuildResult): BuildOutcome | null {
  return result.kind === 'view' ? result.view : result.item;
}

/**
 * The input of a build whose lookups find nothing, with what it calls and asks for.
 * @param asker name of what is built
 */
export function inputWithoutLookups(
  tenant: Tenant,
  entity: StoredEntity,
  environmentId: string,
  asker: string,
): { readonly input: BuildInput; readonly replies: CodeReplies; readonly texts: LongTexts } {
  const replies = new CodeReplies(asker);
  const texts = new LongTexts();
  const code: BuildInput['code'] = (key, call) => replies.code(key, call);
  const text: BuildInput['text'] = (value) => texts.text(value);
  return { input: new TenantInput(tenant, entity, environmentId, () => [], code, text), replies, texts };
}

/** The build input of an entity in one environment. */
class TenantInput implements BuildInput {
  constructor(
    private readonly tenant: Tenant,
    readonly entity: StoredEntity,
    readonly environmentId: string,
    readonly lookup: (query: LookupQuery) => readonly StoredEntity[] | undefined,
    readonly code: BuildInput['code'],
    readonly text: BuildInput['text'],
  ) {}

  resolveSource(sourceGroup: string): string | null {
    return this.tenant.sourceIn(sourceGroup, this.environmentId)?.id ?? null;
  }

  partial(alias: string) {
    return this.tenant.partials.get(alias);
  }
}
