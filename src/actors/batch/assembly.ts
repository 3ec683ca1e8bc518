/** The outputs of a batch compared with those of before: gathers the difference, which is to be written and told. */
import type { Diagnostic } from '../../contract/diagnostic.ts';
import type { ClaimWrite } from '../../store/claims/claims.ts';
import { DigestList, digestOf } from '../../store/codec/digest.ts';
import type { ItemChange } from '../../store/derived/item-sink.ts';
import { encodeItem, itemIndexField } from '../../store/derived/items.ts';
import type { Registration } from '../../store/derived/lookups.ts';
import { sourceField } from '../../store/derived/processed.ts';
import {
  encodeProcessed,
  type MadeClaim,
  type MadeThing,
  type ProcessedRecord,
} from '../../store/derived/processed-record.ts';
import { encodeBody, storedFields } from '../../store/derived/stored-body.ts';
import { claimSubject, itemsSubject, viewSubject } from '../../store/derived/subjects.ts';
import type { EnvironmentScope } from '../../store/environment-scope.ts';
import { itemField, keys, largeBodyField, viewField } from '../../store/keys.ts';
import { type FieldWrites, HashWrites } from '../../store/partitions/hash-writes.ts';
import type { NamedFields } from '../named-fields.ts';
import { type Builder, dependentOf } from './builder.ts';
import { claimsOf } from './claims.ts';
import { diagnosticsOf } from './diagnostics.ts';
import { formerClaims, formerOutputs, isListed, isStored, outdatedDigest, sameClaim } from './former.ts';
import { type AutoTypes, type Misfit, storedItem } from './items.ts';
import type { LookupSource } from './lookup-source.ts';
import type { Output } from './output.ts';
import { claimKey, outputKey } from './output-key.ts';
import { indexEntriesOf } from './publish.ts';
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
  /** Of the views or items of a builder. */
  readonly #outputWrites = new Map<Builder, FieldWrites>();
  readonly counts: BatchCounts = { entities: 0, built: 0, unchanged: 0, diagnostics: new Map() };
  /** Subjects of the indexes in `itemChanges`. */
  readonly #changedIndexes = new Set<string>();

  constructor(
    private readonly tag: string,
    private readonly autoTypes: AutoTypes,
    private readonly lookups: LookupSource,
    private readonly namedFields: NamedFields,
  ) {}

  /** @param outputs in the order of their turns */
  addTurns(turns: readonly Turn[], outputs: readonly Output[]): void {
    let at = 0;
    for (const turn of turns) {
      const first = at;
      while (outputs[at]?.turn === turn) at += 1;
      this.#addTurn(turn, outputs.slice(first, at));
    }
  }

  #addTurn(turn: Turn, outputs: readonly Output[]): void {
    this.counts.entities += turn.only === null ? 1 : 0;
    const formerOutputsByKey = formerOutputs(turn);
    const made: MadeThing[] = [];
    const kept: MadeThing[] = [];
    for (const output of outputs) {
      const former = formerOutputsByKey.get(output.builder.key) ?? null;
      if (output.isDeferred) {
        if (former !== null) made.push(this.#defer(turn, output, former));
        this.#unregister(turn, output, [], former?.dependsOn ?? []);
        continue;
      }
      made.push(this.#addOutput(turn, output, former));
    }
    for (const [key, former] of formerOutputsByKey) {
      if (outputs.some(({ builder }) => builder.key === key)) continue;
      // An output that was asked for and has no builder goes too: nothing would tell later that it missed a change.
      if (turn.only === null || turn.only.has(dependentOf(former, turn))) this.#removeOutput(turn, former);
      else kept.push(former);
    }
    // Outputs stand in the order of their keys already.
    this.#addRecord(turn, kept.length === 0 ? made : [...made, ...kept].sort(byKey));
  }

  /** @param made outputs by their keys, so that equal records have equal bytes */
  #addRecord(turn: Turn, made: readonly MadeThing[]): void {
    const { tenantAlias, sourceId, originId, entity, former, only } = turn;
    if (entity === null) {
      if (former !== null) this.writes.delete(keys.processed(this.tag, tenantAlias, sourceId), originId);
      return;
    }
    // A rebuilt part does not stand for the entity's change: that still waits in the stream.
    const record: ProcessedRecord =
      only !== null && former !== null
        ? { ...former, made }
        : { stamp: entity.stamp, type: entity.type, lookups: indexEntriesOf(turn), made };
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

  #addOutput(turn: Turn, output: Output, former: MadeThing | null): MadeThing {
    const { builder } = output;
    const scope: EnvironmentScope = { tenant: turn.tenantAlias, environmentId: builder.environmentId };
    const bytesDigest =
      output.result.kind === 'view'
        ? this.#addView(turn, scope, output, former)
        : this.#addItem(turn, scope, output, former);
    this.counts.built += 1;
    if (former?.bytesDigest.equals(bytesDigest)) this.counts.unchanged += 1;
    const { kind, environmentId, name, schemaDigest } = builder;
    const claims = this.#addClaims(turn, scope, output, former);
    this.#unregister(turn, output, former?.dependsOn ?? [], output.dependsOn);
    return { kind, environmentId, name, schemaDigest, bytesDigest, claims, dependsOn: output.dependsOn };
  }

  /**
   * The last output stays, noted as outdated, so that no later configuration takes it for its own. Its claims depend on
   * the entity alone and follow it, or their age would be forgotten with the state that began to make them.
   */
  #defer(turn: Turn, output: Output, former: MadeThing): MadeThing {
    const scope: EnvironmentScope = {
      tenant: turn.tenantAlias,
      environmentId: output.builder.environmentId,
    };
    const claims = this.#addClaims(turn, scope, output, former);
    return { ...former, schemaDigest: outdatedDigest, claims };
  }

  #addView(turn: Turn, scope: EnvironmentScope, output: Output, former: MadeThing | null): Buffer {
    const { builder, result } = output;
    if (result.kind !== 'view') throw new TypeError('not a view');
    const body = encodeBody(result.view.body);
    const bytesDigest = digestOf(body);
    this.#count(output, []);
    if (isStored(turn, former, bytesDigest)) return bytesDigest;
    const { sourceId, originId } = turn;
    const writes = this.#writesOf(builder, scope);
    const field = viewField(sourceId, builder.name, originId);
    // What was there may have been large.
    if (former !== null) writes.delete(largeBodyField(field));
    for (const [name, bytes] of storedFields(field, body)) writes.set(name, bytes);
    this.digests.add(viewSubject(scope, { sourceId, originId, alias: builder.name }));
    return bytesDigest;
  }

  #writesOf(builder: Builder, scope: EnvironmentScope): FieldWrites {
    const known = this.#outputWrites.get(builder);
    if (known !== undefined) return known;
    const { tenant, environmentId } = scope;
    const { kind, name } = builder;
    const key =
      kind === 'view'
        ? keys.views(this.tag, tenant, environmentId)
        : keys.items(this.tag, tenant, environmentId, name);
    const writes = this.writes.hash(key);
    this.#outputWrites.set(builder, writes);
    if (kind === 'item') {
      this.namedFields.add(this.writes, keys.itemIndexes(this.tag), itemIndexField({ scope, index: name }));
    }
    return writes;
  }

  #addItem(turn: Turn, scope: EnvironmentScope, output: Output, former: MadeThing | null): Buffer {
    const stored = storedItem(output, this.autoTypes);
    if (stored === null) throw new TypeError('not an item');
    const { item, misfits } = stored;
    const encoded = encodeItem(item);
    const bytesDigest = digestOf(encoded);
    this.#count(output, misfits);
    if (isStored(turn, former, bytesDigest)) return bytesDigest;
    const { sourceId, originId } = turn;
    const index = output.builder.name;
    this.#writesOf(output.builder, scope).set(itemField(sourceId, originId), encoded);
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

  #count(output: Output, misfits: readonly Misfit[]): void {
    this.countFindings(diagnosticsOf(output, misfits, (demand) => this.lookups.isCut(demand)));
  }

  countFindings(findings: readonly Diagnostic[]): void {
    const { diagnostics } = this.counts;
    for (const { kind } of findings) diagnostics.set(kind, (diagnostics.get(kind) ?? 0) + 1);
  }

  #removeOutput(turn: Turn, former: MadeThing): void {
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
    this.#drop(turn, former.dependsOn, dependentOf(former, turn));
  }

  #addClaims(turn: Turn, scope: EnvironmentScope, output: Output, former: MadeThing | null): MadeClaim[] {
    const { result, builder } = output;
    if (result.kind !== 'view' || turn.entity === null) return [];
    const { url, handles } = result.claims;
    const claimsNothing = url === null && handles.length === 0;
    const claims = claimsNothing ? [] : claimsOf(turn.entity, result.claims, formerClaims(turn, builder));
    const before = former?.claims ?? [];
    const kept = before.length === 0 ? null : new Set(claims.map(claimKey));
    for (const claim of before) {
      if (!kept?.has(claimKey(claim))) this.#moveClaim('drop', turn, scope, builder.name, claim);
    }
    const formerByKey = before.length === 0 ? null : new Map(before.map((claim) => [claimKey(claim), claim]));
    const isKept = isListed(turn, former);
    for (const claim of claims) {
      if (isKept && sameClaim(claim, formerByKey?.get(claimKey(claim)))) continue;
      this.#moveClaim('put', turn, scope, builder.name, claim);
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

  /** Drops registrations from before, and of earlier rounds, that the result does not rest on. */
  #unregister(
    turn: Turn,
    output: Output,
    before: MadeThing['dependsOn'],
    kept: MadeThing['dependsOn'],
  ): void {
    if (before.length === 0 && output.registered.size === 0) return;
    const gone = new Map(
      [...before, ...output.registered.values()].map((key) => [`${key[0]}:${key[1]}`, key]),
    );
    for (const [sourceId, lookupKey] of kept) gone.delete(`${sourceId}:${lookupKey}`);
    this.#drop(turn, [...gone.values()], output.dependent);
  }

  #drop(turn: Turn, gone: MadeThing['dependsOn'], dependent: string): void {
    for (const [sourceId, lookupKey] of gone) {
      const tenant = turn.tenantAlias;
      this.unregistrations.push({ action: 'drop', tenant, sourceId, lookupKey, member: dependent });
    }
  }
}

function byKey(a: MadeThing, b: MadeThing): number {
  return outputKey(a) < outputKey(b) ? -1 : 1;
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
