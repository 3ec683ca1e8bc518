/** The outputs of a batch, views and index items: builds them, answering their lookups in rounds, and gives the bytes of each. */

import type { Tenant } from '../../config/configuration.ts';
import type { StoredEntity } from '../../contract/entity.ts';
import type { Json } from '../../contract/json.ts';
import { askedLookupsMax, sliceMs } from '../../contract/limits.ts';
import { chain, type Maybe, type Steps, Unfinished } from '../../lib/pace.ts';
import { Slice } from '../../lib/slices/slice.ts';
import type { BuildInput } from '../../schemas/build/input.ts';
import { LongTexts } from '../../schemas/build/long-texts.ts';
import type { BuildFailure, BuildOutcome, BuiltItem, BuiltView } from '../../schemas/build/outcome.ts';
import type { CodeCall } from '../../schemas/code/call.ts';
import type { LookupQuery } from '../../schemas/lookup/query.ts';
import type { ResolvedDestination, ViewClaims } from '../../schemas/schema.ts';
import { encodeItem, type StoredItem } from '../../store/derived/item-record.ts';
import { encodeBody } from '../../store/derived/stored-body.ts';
import type { DeferredFor } from '../../store/partitions/deferred.ts';
import type { AutoTypes } from './auto-types.ts';
import { type Builder, buildersFor, dependentOf } from './builder.ts';
import { CodeReplies, type CodeSandbox, makeCalls, type PendingCall } from './code-replies.ts';
import { itemOf, type Misfit, noMisfits } from './item.ts';
import { isBeyondLimit, keysOf, type LookupAnswers, type LookupDemand } from './lookup-source.ts';
import { itemNameList } from './output-place.ts';
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

/** What an output waits for: the build goes on when all of it is known. */
interface Waiting {
  readonly demands: readonly LookupDemand[];
  readonly calls: readonly PendingCall[];
}

const waitsForNothing: Waiting = { demands: [], calls: [] };

/** A view or an item of one turn. Most rest on no lookup, and nothing is set aside for lookups then. */
export class Output {
  result: BuildResult = noResult;
  /**
   * Not null: nothing is built now. It waits for code that has not answered in time, or for a lookup index that is not whole
   * yet.
   */
  deferredFor: DeferredFor | null = null;
  /** Lookups that the result rests on. */
  demands: readonly LookupDemand[] = [];
  /** Keys of the lookups that the result rests on. */
  dependsOn: readonly SourceKey[] = [];
  #dependent: string | null = null;
  #registered: Map<string, SourceKey> | null = null;
  /** Null while no code was met: JSON schemas have none. */
  #replies: CodeReplies | null = null;
  /** Null while no large value was put into a text. */
  #texts: LongTexts | null = null;

  constructor(
    readonly turn: Turn,
    readonly builder: Builder,
  ) {}

  get isDeferred(): boolean {
    return this.deferredFor !== null;
  }

  /** It asked code, and there was no answer in time. */
  get isLate(): boolean {
    return this.#replies?.isLate ?? false;
  }

  /** Its name, as lookups register it. */
  get dependent(): string {
    this.#dependent ??= dependentOf(this.builder, this.turn);
    return this.#dependent;
  }

  /** Lookup keys that this output was registered under, by `<source>:<key>`. */
  get registered(): ReadonlyMap<string, SourceKey> {
    return this.#registered ?? noKeys;
  }

  /** Why nothing was made: what was made last stays. */
  get failure(): BuildFailure | null {
    return outcomeOf(this.result)?.failure ?? null;
  }

  /** Builds with the results that are known, in steps when that takes long; returns what is not. */
  run(lookups: LookupAnswers): Maybe<Waiting> {
    const { place, entity } = this.turn;
    if (place === null || entity === null) return waitsForNothing;
    const made = resultOf(this.builder, this.#input(place, entity, lookups));
    return chain(made, (result) => {
      if (this.#texts?.isWanted) return new Unfinished(this.#runWith(this.#texts, lookups));
      this.result = result;
      return this.#waitingFor(place, lookups);
    });
  }

  /** Makes texts that a run has asked for, and runs again. */
  *#runWith(texts: LongTexts, lookups: LookupAnswers): Steps<Waiting> {
    yield* texts.make();
    const made = this.run(lookups);
    return made instanceof Unfinished ? yield* made.steps : made;
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
      this.#replies ??= new CodeReplies(`${place.tenant.alias}|${this.dependent}`);
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

/** The outputs of turns, in the order of their turns. */
export interface BuiltTurns {
  readonly outputs: readonly Output[];
  /** Items of entity types that their source has no room for: they are not built. */
  readonly withoutRoom: readonly Output[];
  readonly autoTypes: AutoTypes;
}

/**
 * Builds what the turns ask for. @param typesOf decides, or reads, the types of auto-indexed fields. @throws
 * FencedError, StoreUnavailableError
 */
export async function buildTurns(
  turns: readonly Turn[],
  lookups: LookupAnswers,
  sandbox: CodeSandbox,
  typesOf: (asked: readonly Output[]) => Promise<AutoTypes>,
): Promise<BuiltTurns> {
  const asked = turns.flatMap(outputsOf);
  const autoTypes = await typesOf(asked);
  const outputs = asked.filter((output) => autoTypes.admits(output));
  await buildOutputs(outputs, lookups, sandbox);
  return { outputs, withoutRoom: asked.filter((output) => !autoTypes.admits(output)), autoTypes };
}

function outputsOf(turn: Turn): Output[] {
  const { place, entity, only } = turn;
  if (place === null || entity === null) return [];
  const outputs = buildersFor(place.tenant, place.source, entity.type).map(
    (builder) => new Output(turn, builder),
  );
  return only === null ? outputs : outputs.filter(({ dependent }) => only.has(dependent));
}

/**
 * Builds until no lookup and no call is open, but for outputs whose code has not answered in time. Each round answers at least one of each open output, and an output has a
 * bounded number of them (`lookupsPerBuildMax`, `codeLookupRoundsMax`), so the rounds end.
 */
export async function buildOutputs(
  outputs: readonly Output[],
  lookups: LookupAnswers,
  sandbox: CodeSandbox,
): Promise<void> {
  let open = outputs;
  const slice = new Slice(sliceMs);
  while (open.length > 0) {
    const demands: LookupDemand[] = [];
    const calls: PendingCall[] = [];
    const waiting: Output[] = [];
    for (const output of open) {
      const made = slice.begin(() => output.run(lookups));
      const pending = made instanceof Unfinished ? await slice.run(made.steps) : made;
      if (pending.demands.length > 0 || pending.calls.length > 0) {
        for (const demand of pending.demands) demands.push(demand);
        for (const call of pending.calls) calls.push(call);
        waiting.push(output);
      }
      if (slice.isOver) await slice.next();
    }
    const asked = demands.length > 0 ? lookups.resolve(demands) : null;
    await Promise.all([asked, makeCalls(sandbox, calls)]);
    open = waiting.filter((output) => !output.isLate);
    for (const output of waiting) if (output.isLate) output.deferredFor = 'code';
  }
}

/** Of a lookup that no index will ever answer. */
function tooManyLookups([first]: readonly LookupDemand[]): BuildFailure {
  const message = `the schemas of the tenant ask for more than ${askedLookupsMax} kinds of lookups that are made at run time`;
  return { message, place: first?.query.place ?? '$' };
}

function failedResult(result: BuildResult, failure: BuildFailure): BuildResult {
  if (result.kind === 'view') return { ...result, view: { ...result.view, failure } };
  return result.item === null ? result : { ...result, item: { ...result.item, failure } };
}

function resultOf(builder: Builder, input: BuildInput): Maybe<BuildResult> {
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

/** An output as Redis has it. Batches write it so, and verifications expect it so. */
export interface StoredOutput {
  readonly bytes: Buffer;
  /** Null for a view. */
  readonly item: StoredItem | null;
  readonly misfits: readonly Misfit[];
}

/** In steps when the output is large. @param output one that is built, and not deferred */
export function storedOutput(output: Output, autoTypes: AutoTypes): Maybe<StoredOutput> {
  const { result } = output;
  if (result.kind === 'view') {
    const encoded = encodeBody(result.view.body, output.turn.sourceId);
    return chain(encoded, (bytes) => ({ bytes, item: null, misfits: noMisfits }));
  }
  return chain(itemOf(output, autoTypes.of(output)), ({ item, misfits }) => ({
    bytes: encodeItem(item, itemNameList(output.builder)),
    item,
    misfits,
  }));
}

/** Lookups and diagnostics of a build; null for an auto-indexed item, which has neither. */
export function outcomeOf(result: BuildResult): BuildOutcome | null {
  return result.kind === 'view' ? result.view : result.item;
}

/** What the schemas see of an entity in one environment. */
export class TenantInput implements BuildInput {
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
