/**
 * Compares what another configuration would build from entities with the current outputs. An output with an unchanged schema is
 * not built, because its inputs are unchanged; a rebuild skips it too.
 */

import { AutoTypes } from '../../actors/batch/auto-types.ts';
import { storedOutput } from '../../actors/batch/build-turns.ts';
import { type Builder, buildersFor, outputKey } from '../../actors/batch/builder.ts';
import type { CodeSandbox } from '../../actors/batch/code-replies.ts';
import { buildOutputs, Output } from '../../actors/batch/output.ts';
import { type Turn, turnsNow } from '../../actors/batch/turn.ts';
import { claimsOfOutput, sameClaim } from '../../actors/batch/view-claims.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { UrlForm } from '../../config/urls/url.ts';
import { formatViewId } from '../../contract/ids.ts';
import { sliceMs } from '../../contract/limits.ts';
import { Slice } from '../../lib/slices/slice.ts';
import { isDigestOf } from '../../store/codec/digest.ts';
import { LayoutStates } from '../../store/configuration/layouts.ts';
import { wantedForm } from '../../store/configuration/url-forms.ts';
import { claimKey, type ProcessedClaim, type ProcessedOutput } from '../../store/derived/processed-record.ts';
import { readView } from '../../store/derived/views.ts';
import { type ClaimMove, type Contest, contestName, type UrlForms } from '../../store/dry-runs/dry-run.ts';
import type { AutoFields } from '../../store/entities/auto-fields.ts';
import { isUrlField, urlFormOfField } from '../../store/keys.ts';
import { wholeTurn } from '../../store/partitions/intake.ts';
import type { SourceRef } from '../../store/scopes.ts';
import type { Store } from '../../store/store.ts';
import type { ReadOnlyLookups } from '../../verify/read-only-lookups.ts';
import { viewJson } from '../view-json.ts';
import { type ChangeKind, type ConfigurationDiff, hasRoom, plus, withSample } from './diff.ts';

export interface DryRunContext {
  readonly store: Store;
  /** The planned configuration, which is not active. */
  readonly planned: Configuration;
  readonly lookups: ReadOnlyLookups;
  readonly autoFields: AutoFields;
  readonly sandbox: CodeSandbox;
  /** The current form for comparing URLs of a tenant. */
  urlFormNow(tenant: string): UrlForm;
}

export interface EntityPlace extends SourceRef {
  readonly tag: string;
}

export interface EntityChanges {
  readonly diff: ConfigurationDiff;
  /** Number of current claims on handles of the entities. */
  readonly handleClaims: number;
  readonly moves: readonly (ClaimMove & { readonly contest: Contest })[];
}

/**
 * @param diff the diff so far
 * @throws ScanTooLongError, StoreUnavailableError
 */
export async function entityChanges(
  context: DryRunContext,
  place: EntityPlace,
  originIds: readonly string[],
  diff: ConfigurationDiff,
): Promise<EntityChanges> {
  const portion = new Portion(context, place, diff);
  await portion.run(originIds);
  return { diff: portion.diff, handleClaims: portion.handleClaims, moves: portion.moves };
}

const noClaims: readonly ProcessedClaim[] = [];

class Portion {
  diff: ConfigurationDiff;
  handleClaims = 0;
  readonly moves: (ClaimMove & { readonly contest: Contest })[] = [];
  readonly #forms: UrlForms;

  constructor(
    private readonly context: DryRunContext,
    private readonly place: EntityPlace,
    diff: ConfigurationDiff,
  ) {
    this.diff = diff;
    const { tenant } = place;
    this.#forms = { before: context.urlFormNow(tenant), after: wantedForm(context.planned, tenant) };
  }

  async run(originIds: readonly string[]): Promise<void> {
    const { store, planned, lookups, sandbox, autoFields } = this.context;
    const { tag, tenant, sourceId } = this.place;
    lookups.beginPortion();
    const basis = { configuration: planned, layouts: LayoutStates.none };
    const works = originIds.map((originId) => wholeTurn({ tenant, sourceId, originId }));
    const loaded = await turnsNow(store, store.partitions.tags.indexOf(tag), basis, works);
    const turns = loaded
      .filter(({ entity }) => entity !== null)
      .map((turn): Turn => ({ ...turn, urlForm: this.#forms.after }));
    const types = [...new Set(turns.map(({ entity }) => entity?.type ?? ''))];
    const withoutRoom = await autoFields.typesWithoutRoom(tenant, sourceId, types);
    const planOf = (turn: Turn) => this.#plan(turn, withoutRoom.has(turn.entity?.type ?? ''));
    const plans = turns.map(planOf);
    await buildOutputs(
      plans.flatMap(({ outputs }) => outputs),
      lookups,
      sandbox,
    );
    const noTypes = await AutoTypes.read(autoFields, []);
    for (const plan of plans) await this.#compare(plan, noTypes);
  }

  #plan(turn: Turn, hasNoRoom: boolean): Plan {
    const formers = new Map(turn.former?.outputs.map((former) => [outputKey(former), former]));
    const { place, entity } = turn;
    const isShown = entity !== null && turn.state === 'published';
    const all = place === null || !isShown ? [] : buildersFor(place.tenant, place.source, entity.type);
    const builders = all.filter(({ kind, schema }) => kind === 'view' || schema !== null || !hasNoRoom);
    const outputs = builders
      .filter((builder) => this.#differs(builder, formers.get(builder.key)))
      .map((builder) => new Output(turn, builder));
    return { turn, formers, builders, outputs };
  }

  /** True if the output must be built. Auto-indexed items never are: they exist or not. */
  #differs(builder: Builder, former: ProcessedOutput | undefined): boolean {
    if (builder.kind === 'item' && builder.schema === null) return false;
    if (former === undefined || former.schemaDigest !== builder.schemaDigest) return true;
    const { after } = this.#forms;
    return former.claims.some(({ field }) => (urlFormOfField(field) ?? after) !== after);
  }

  async #compare({ turn, formers, builders, outputs }: Plan, noTypes: AutoTypes): Promise<void> {
    const built = new Map(outputs.map((output) => [output.builder.key, output]));
    for (const builder of builders) {
      const former = formers.get(builder.key);
      const output = built.get(builder.key);
      if (output === undefined) this.#count(builder, isMade(former) ? 'same' : 'added');
      else await this.#compareOutput(output, former, noTypes);
      const before = former?.claims ?? noClaims;
      const after = output === undefined || output.failure !== null ? before : claimsOfOutput(output);
      if (builder.kind === 'view') this.#compareClaims(turn, builder, before, after);
    }
    const keys = new Set(builders.map(({ key }) => key));
    for (const [key, former] of formers) {
      if (keys.has(key)) continue;
      if (isMade(former)) await this.#remove(turn, former);
      if (former.kind === 'view') this.#compareClaims(turn, former, former.claims, noClaims);
    }
  }

  #count({ kind }: Pick<ProcessedOutput, 'kind'>, change: ChangeKind): void {
    const { views, items } = this.diff;
    this.diff =
      kind === 'view'
        ? { ...this.diff, views: plus(views, change) }
        : { ...this.diff, items: plus(items, change) };
  }

  async #compareOutput(output: Output, former: ProcessedOutput | undefined, types: AutoTypes): Promise<void> {
    const { turn, builder, result, failure } = output;
    // An output that fails to build keeps its last state.
    if (failure !== null) {
      if (isMade(former)) this.#count(builder, 'same');
      return;
    }
    const isThere = isMade(former);
    const stored = await new Slice(sliceMs).run(storedOutput(output, types));
    const isSame = former !== undefined && isThere && isDigestOf(former.bytesDigest, stored.bytes);
    const change = isSame ? 'same' : isThere ? 'changed' : 'added';
    this.#count(builder, change);
    if (change === 'same' || result.kind !== 'view' || !hasRoom(this.diff.samples, change)) return;
    const after = { view: viewJson(result.view.body, builder.environmentId) };
    await this.#sample(turn, builder, isThere, after);
  }

  async #remove(turn: Turn, former: ProcessedOutput): Promise<void> {
    this.#count(former, 'removed');
    if (former.kind === 'view' && hasRoom(this.diff.samples, 'removed')) {
      await this.#sample(turn, former, true, null);
    }
  }

  async #sample(
    { tenant, sourceId, originId }: Turn,
    { environmentId, name: alias }: Pick<ProcessedOutput, 'environmentId' | 'name'>,
    isThere: boolean,
    after: { readonly view: ReturnType<typeof viewJson> } | null,
  ): Promise<void> {
    const ref = { sourceId, originId, alias };
    const scope = { tenant, environmentId };
    const stored = isThere ? await readView(this.context.store, scope, ref) : null;
    const before = isThere ? { view: stored === null ? null : viewJson(stored, environmentId) } : null;
    const sample = { id: formatViewId({ environmentId, ...ref }), before, after };
    this.diff = { ...this.diff, samples: withSample(this.diff.samples, sample) };
  }

  #compareClaims(
    turn: Turn,
    output: Pick<ProcessedOutput, 'environmentId' | 'name'>,
    before: readonly ProcessedClaim[],
    after: readonly ProcessedClaim[],
  ): void {
    this.handleClaims += before.filter(({ field }) => !isUrlField(field)).length;
    if (before === after) return;
    const formers = new Map(before.map((claim) => [claimKey(claim), claim]));
    const kept = new Set(after.map(claimKey));
    for (const claim of before) if (!kept.has(claimKey(claim))) this.#move('drop', turn, output, claim);
    for (const claim of after) {
      if (!sameClaim(claim, formers.get(claimKey(claim)))) this.#move('put', turn, output, claim);
    }
  }

  #move(
    action: ClaimMove['action'],
    { tenant, sourceId, originId }: Turn,
    { environmentId, name: alias }: Pick<ProcessedOutput, 'environmentId' | 'name'>,
    { field, ...claim }: ProcessedClaim,
  ): void {
    const contest = { tenant, environmentId, name: contestName(field, this.#forms) };
    this.moves.push({ contest, action, field, claim: { ...claim, view: { sourceId, alias, originId } } });
  }
}

/** The current and planned outputs of an entity. */
interface Plan {
  readonly turn: Turn;
  /** The previous outputs by key. */
  readonly formers: ReadonlyMap<string, ProcessedOutput>;
  readonly builders: readonly Builder[];
  /** The outputs that must be built. */
  readonly outputs: readonly Output[];
}

/** False for a recorded output that was never built. */
function isMade(former: ProcessedOutput | undefined): boolean {
  return former !== undefined && former.bytesDigest.length > 0;
}
