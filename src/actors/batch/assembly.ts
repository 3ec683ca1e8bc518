/** What a batch made, compared with what was made before: gathers the difference, which is to be written and told. */
import type { Diagnostic } from '../../contract/diagnostic.ts';
import { DigestList, digestOf } from '../../store/codec/digest.ts';
import type { ClaimWrite } from '../../store/derived/claims.ts';
import { formatDependent } from '../../store/derived/dependents.ts';
import { encodeItem, itemIndexField } from '../../store/derived/items.ts';
import type { Registration } from '../../store/derived/lookups.ts';
import {
  encodeProcessed,
  type MadeClaim,
  type MadeThing,
  type ProcessedRecord,
  sourceField,
} from '../../store/derived/processed.ts';
import { claimSubject, itemsSubject, viewSubject } from '../../store/derived/subjects.ts';
import { encodeBody, storedFields } from '../../store/derived/views.ts';
import { itemField, keys, largeBodyField, viewField } from '../../store/keys.ts';
import { type FieldWrites, HashWrites } from '../../store/partitions/commit.ts';
import type { EnvironmentScope, ItemChange } from '../../store/types.ts';
import type { NamedFields } from '../named-fields.ts';
import type { Build } from './build.ts';
import { claimsOf } from './claims.ts';
import { diagnosticsOf } from './diagnostics.ts';
import { formerClaims, formerThings, isListed, isStored, outdatedDigest, sameClaim } from './former.ts';
import { type AutoTypes, type Misfit, storedItem } from './items.ts';
import type { LookupSource } from './lookup-source.ts';
import { claimKey, thingKey } from './made-key.ts';
import type { Maker } from './maker.ts';
import { standingsOf } from './publish.ts';
import type { Turn } from './turn.ts';

/** What happened, for the metrics. */
export interface BatchCounts {
  entities: number;
  /** Views and items computed, and those of them whose bytes were as before. */
  built: number;
  unchanged: number;
  /** Findings about the data, by kind. */
  readonly diagnostics: Map<Diagnostic['kind'], number>;
}

export class Assembly {
  readonly writes = new HashWrites();
  readonly itemChanges: ItemChange[] = [];
  readonly digests = new DigestList();
  readonly claimWrites: ClaimWrite[] = [];
  readonly unregistrations: Registration[] = [];
  readonly #records = new Map<string, FieldWrites>();
  /** Views or items of a maker. */
  readonly #things = new Map<Maker, FieldWrites>();
  readonly counts: BatchCounts = { entities: 0, built: 0, unchanged: 0, diagnostics: new Map() };
  /** Subjects of the indexes in `itemChanges`. */
  readonly #changedIndexes = new Set<string>();

  constructor(
    private readonly tag: string,
    private readonly autoTypes: AutoTypes,
    private readonly lookups: LookupSource,
    private readonly namedFields: NamedFields,
  ) {}

  /** @param builds in the order of their turns */
  addTurns(turns: readonly Turn[], builds: readonly Build[]): void {
    let at = 0;
    for (const turn of turns) {
      const first = at;
      while (builds[at]?.turn === turn) at += 1;
      this.#addTurn(turn, builds.slice(first, at));
    }
  }

  #addTurn(turn: Turn, builds: readonly Build[]): void {
    this.counts.entities += turn.only === null ? 1 : 0;
    const formerMade = formerThings(turn);
    const made: MadeThing[] = [];
    const kept: MadeThing[] = [];
    for (const build of builds) {
      const former = formerMade.get(build.maker.key) ?? null;
      if (build.isDeferred) {
        if (former !== null) made.push(this.#defer(turn, build, former));
        this.#unregister(turn, build, [], former?.dependsOn ?? []);
        continue;
      }
      made.push(this.#addBuild(turn, build, former));
    }
    for (const [key, former] of formerMade) {
      if (builds.some(({ maker }) => maker.key === key)) continue;
      // A part that was asked for and has no maker goes too: nothing would tell later that it missed a change.
      if (turn.only === null || turn.only.has(memberOfThing(turn, former))) this.#removeThing(turn, former);
      else kept.push(former);
    }
    // Builds stand in the order of their keys already.
    this.#addRecord(turn, kept.length === 0 ? made : [...made, ...kept].sort(byKey));
  }

  /** @param made by their keys, so that equal records have equal bytes */
  #addRecord(turn: Turn, made: readonly MadeThing[]): void {
    const { tenantAlias, sourceId, originId, entity, former, only } = turn;
    if (entity === null) {
      if (former !== null) this.writes.delete(keys.processed(this.tag, tenantAlias, sourceId), originId);
      return;
    }
    // A part that was rebuilt does not stand for the entity's change: that still waits in the stream.
    const record: ProcessedRecord =
      only !== null && former !== null
        ? { ...former, made }
        : { stamp: entity.stamp, type: entity.type, lookups: standingsOf(turn), made };
    const encoded = encodeProcessed(record);
    const mayBeSame = turn.repair === null && former?.stamp === record.stamp;
    if (mayBeSame && encodeProcessed(former).equals(encoded)) return;
    this.#recordsOf(tenantAlias, sourceId).set(originId, encoded);
  }

  /** The processed records of a source, which counts as processed here from the first of them on. */
  #recordsOf(tenant: string, sourceId: string): FieldWrites {
    const name = sourceField(tenant, sourceId);
    const known = this.#records.get(name);
    if (known !== undefined) return known;
    const records = this.writes.hash(keys.processed(this.tag, tenant, sourceId));
    this.#records.set(name, records);
    this.namedFields.add(this.writes, keys.sources(this.tag), name);
    return records;
  }

  #addBuild(turn: Turn, build: Build, former: MadeThing | null): MadeThing {
    const { maker } = build;
    const scope: EnvironmentScope = { tenant: turn.tenantAlias, environmentId: maker.environmentId };
    const bytesDigest =
      build.built.kind === 'view'
        ? this.#addView(turn, scope, build, former)
        : this.#addItem(turn, scope, build, former);
    this.counts.built += 1;
    if (former?.bytesDigest.equals(bytesDigest)) this.counts.unchanged += 1;
    const { kind, environmentId, name, schemaDigest } = maker;
    const claims = this.#addClaims(turn, scope, build, former);
    this.#unregister(turn, build, former?.dependsOn ?? [], build.dependsOn);
    return { kind, environmentId, name, schemaDigest, bytesDigest, claims, dependsOn: build.dependsOn };
  }

  /**
   * What is there stays, marked as outdated, so that no later configuration takes it for its own. Claims depend on the
   * entity alone and follow it, or their age would be forgotten with the state that began to make them.
   */
  #defer(turn: Turn, build: Build, former: MadeThing): MadeThing {
    const scope: EnvironmentScope = {
      tenant: turn.tenantAlias,
      environmentId: build.maker.environmentId,
    };
    const claims = this.#addClaims(turn, scope, build, former);
    return { ...former, schemaDigest: outdatedDigest, claims };
  }

  #addView(turn: Turn, scope: EnvironmentScope, build: Build, former: MadeThing | null): Buffer {
    const { maker, built } = build;
    if (built.kind !== 'view') throw new TypeError('not a view');
    const body = encodeBody(built.view.body);
    const bytesDigest = digestOf(body);
    this.#count(build, []);
    if (isStored(turn, former, bytesDigest)) return bytesDigest;
    const { sourceId, originId } = turn;
    const things = this.#thingsOf(maker, scope);
    const field = viewField(sourceId, maker.name, originId);
    // What was there may have been large.
    if (former !== null) things.delete(largeBodyField(field));
    for (const [name, bytes] of storedFields(field, body)) things.set(name, bytes);
    this.digests.add(viewSubject(scope, { sourceId, originId, alias: maker.name }));
    return bytesDigest;
  }

  #thingsOf(maker: Maker, scope: EnvironmentScope): FieldWrites {
    const known = this.#things.get(maker);
    if (known !== undefined) return known;
    const { tenant, environmentId } = scope;
    const { kind, name } = maker;
    const key =
      kind === 'view'
        ? keys.views(this.tag, tenant, environmentId)
        : keys.items(this.tag, tenant, environmentId, name);
    const things = this.writes.hash(key);
    this.#things.set(maker, things);
    if (kind === 'item') {
      this.namedFields.add(this.writes, keys.itemIndexes(this.tag), itemIndexField({ scope, index: name }));
    }
    return things;
  }

  #addItem(turn: Turn, scope: EnvironmentScope, build: Build, former: MadeThing | null): Buffer {
    const stored = storedItem(build, this.autoTypes);
    if (stored === null) throw new TypeError('not an item');
    const { item, misfits } = stored;
    const encoded = encodeItem(item);
    const bytesDigest = digestOf(encoded);
    this.#count(build, misfits);
    if (isStored(turn, former, bytesDigest)) return bytesDigest;
    const { sourceId, originId } = turn;
    const index = build.maker.name;
    this.#thingsOf(build.maker, scope).set(itemField(sourceId, originId), encoded);
    this.#changeItem({ scope, index, sourceId, originId, item });
    return bytesDigest;
  }

  #changeItem(change: ItemChange): void {
    this.itemChanges.push(change);
    const subject = itemsSubject(change.scope, change.index);
    if (this.#changedIndexes.has(subject)) return;
    this.#changedIndexes.add(subject);
    this.digests.add(subject);
  }

  #count(build: Build, misfits: readonly Misfit[]): void {
    this.countFindings(diagnosticsOf(build, misfits, (demand) => this.lookups.isCut(demand)));
  }

  countFindings(findings: readonly Diagnostic[]): void {
    const { diagnostics } = this.counts;
    for (const { kind } of findings) diagnostics.set(kind, (diagnostics.get(kind) ?? 0) + 1);
  }

  #removeThing(turn: Turn, former: MadeThing): void {
    const { sourceId, originId, tenantAlias: tenant } = turn;
    const { environmentId, name } = former;
    const scope: EnvironmentScope = { tenant, environmentId };
    if (former.kind === 'view') {
      const views = this.writes.hash(keys.views(this.tag, tenant, environmentId));
      const field = viewField(sourceId, name, originId);
      views.delete(field);
      views.delete(largeBodyField(field));
      this.digests.add(viewSubject(scope, { sourceId, originId, alias: name }));
    } else {
      this.writes.delete(keys.items(this.tag, tenant, environmentId, name), itemField(sourceId, originId));
      this.#changeItem({ scope, index: name, sourceId, originId, item: null });
    }
    for (const claim of former.claims) this.#moveClaim('drop', turn, scope, name, claim);
    this.#drop(turn, former.dependsOn, memberOfThing(turn, former));
  }

  #addClaims(turn: Turn, scope: EnvironmentScope, build: Build, former: MadeThing | null): MadeClaim[] {
    const { built, maker } = build;
    if (built.kind !== 'view' || turn.entity === null) return [];
    const { url, handles } = built.claims;
    const claimsNothing = url === null && handles.length === 0;
    const claims = claimsNothing ? [] : claimsOf(turn.entity, built.claims, formerClaims(turn, maker));
    const before = former?.claims ?? [];
    const kept = before.length === 0 ? null : new Set(claims.map(claimKey));
    for (const claim of before) {
      if (!kept?.has(claimKey(claim))) this.#moveClaim('drop', turn, scope, maker.name, claim);
    }
    const formerByKey = before.length === 0 ? null : new Map(before.map((claim) => [claimKey(claim), claim]));
    const isKept = isListed(turn, former);
    for (const claim of claims) {
      if (isKept && sameClaim(claim, formerByKey?.get(claimKey(claim)))) continue;
      this.#moveClaim('put', turn, scope, maker.name, claim);
    }
    return claims;
  }

  #moveClaim(
    action: ClaimWrite['action'],
    turn: Turn,
    scope: EnvironmentScope,
    alias: string,
    claim: MadeClaim,
  ): void {
    this.claimWrites.push(claimWrite(action, turn, scope, alias, claim));
    // The partition of the claim tells of it too, but a front may hear that later than the commit, which is what a
    // request with `Min-Version` waits for.
    this.digests.add(claimSubject(scope, claim.field));
  }

  /** Drops registrations from before, and of rounds on the way, that the result does not rest on. */
  #unregister(turn: Turn, build: Build, before: MadeThing['dependsOn'], kept: MadeThing['dependsOn']): void {
    if (before.length === 0 && build.registered.size === 0) return;
    const gone = new Map(
      [...before, ...build.registered.values()].map((key) => [`${key[0]}:${key[1]}`, key]),
    );
    for (const [sourceId, lookupKey] of kept) gone.delete(`${sourceId}:${lookupKey}`);
    this.#drop(turn, [...gone.values()], build.member);
  }

  #drop(turn: Turn, gone: MadeThing['dependsOn'], member: string): void {
    for (const [sourceId, lookupKey] of gone) {
      this.unregistrations.push({ action: 'drop', tenant: turn.tenantAlias, sourceId, lookupKey, member });
    }
  }
}

function byKey(a: MadeThing, b: MadeThing): number {
  return thingKey(a) < thingKey(b) ? -1 : 1;
}

function memberOfThing(turn: Turn, { kind, environmentId, name }: MadeThing): string {
  const { sourceId, originId } = turn;
  return formatDependent({ kind, environmentId, name, sourceId, originId });
}

function claimWrite(
  action: ClaimWrite['action'],
  turn: Turn,
  scope: EnvironmentScope,
  alias: string,
  claim: MadeClaim,
): ClaimWrite {
  const { sourceId, originId } = turn;
  const { field, host, kind, sinceStamp, display, redirect } = claim;
  return {
    action,
    scope,
    field,
    claim: { host, kind, sinceStamp, view: { sourceId, originId, alias }, display, redirect },
  };
}
