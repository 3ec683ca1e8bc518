/**
 * Makes again what the configuration makes of entities, and compares it with everything that is stored for them.
 * Nothing is written and nothing registered.
 *
 * One thing cannot be made again from the entity alone: since when it has made its claims. That is taken from the
 * processed record (contract section 5: a claim's age counts from when its entity began to make it).
 */
import { type Build, buildsOf, runBuilds } from '../actors/build.ts';
import { claimsOf } from '../actors/claims.ts';
import { claimKey, formerClaims, sameClaim, thingKey } from '../actors/former.ts';
import { AutoTypes, storedItem } from '../actors/items.ts';
import { standingOf } from '../actors/publish.ts';
import { loadTurns, type Turn } from '../actors/turn.ts';
import type { Configuration } from '../config/types.ts';
import { formatEntityId } from '../contract/ids.ts';
import { project } from '../schemas/lookup-layout.ts';
import type { AutoFields } from '../store/auto-fields.ts';
import { claimTag, unpackClaims } from '../store/claims.ts';
import { digestOf } from '../store/digest.ts';
import { encodeItem } from '../store/items.ts';
import { itemField, keys, viewField } from '../store/keys.ts';
import { lookupPlace } from '../store/lookups.ts';
import type { MadeClaim, MadeThing } from '../store/processed.ts';
import type { Store } from '../store/store.ts';
import { StoredState } from '../store/stored-state.ts';
import type { Suspect } from '../store/suspects.ts';
import type { Claim } from '../store/types.ts';
import { encodeBody } from '../store/views.ts';
import { type EntityTarget, type Finding, finding, thingSubject, whereTheyDiffer } from './finding.ts';
import type { ReadOnlyLookups } from './read-only-lookups.ts';
import { isKnown } from './suspect.ts';

export interface CheckContext {
  readonly store: Store;
  readonly configuration: Configuration;
  readonly autoFields: AutoFields;
  readonly lookups: ReadOnlyLookups;
}

/** What was compared. */
export interface CheckCounts {
  entities: number;
  views: number;
  items: number;
  claims: number;
}

/** Where the bytes of a thing lie. */
interface Place {
  readonly key: string;
  readonly field: string;
}

/** Findings for each target, in their order; all targets are of one partition. @throws StoreUnavailableError */
export async function checkEntities(
  context: CheckContext,
  partition: number,
  targets: readonly EntityTarget[],
  counts: CheckCounts,
): Promise<Finding[][]> {
  const { store, configuration, autoFields, lookups } = context;
  const tag = store.partitions.tag(partition);
  lookups.beginPortion();
  const works = targets.map(({ tenant, sourceId, originId }) => ({
    tenant,
    sourceId,
    originId,
    only: null,
    repair: null,
  }));
  const turns = await loadTurns(store, tag, configuration, works);
  const builds = buildsOf(turns);
  const autoTypes = new AutoTypes();
  await autoTypes.read(autoFields, builds);
  await runBuilds(builds, lookups);

  const turnOf = new Map(
    turns.map((turn) => [`${turn.tenantAlias}:${turn.sourceId}:${turn.originId}`, turn]),
  );
  const state = new StoredState(store);
  const checks = targets.flatMap((target) => {
    const turn = turnOf.get(`${target.tenant}:${target.sourceId}:${target.originId}`);
    if (turn === undefined) return [];
    const ofTurn = builds.filter((build) => build.turn === turn);
    return [new EntityCheck(context.store, state, autoTypes, tag, turn, ofTurn, target.suspects)];
  });
  for (const check of checks) check.want();
  await state.load();
  return checks.map((check) => check.findings(counts));
}

class EntityCheck {
  readonly #findings: Finding[] = [];
  readonly #former: ReadonlyMap<string, MadeThing>;

  constructor(
    private readonly store: Store,
    private readonly state: StoredState,
    private readonly autoTypes: AutoTypes,
    private readonly tag: string,
    private readonly turn: Turn,
    private readonly builds: readonly Build[],
    private readonly suspects: readonly Suspect[],
  ) {
    this.#former = new Map(turn.former?.made.map((thing) => [thingKey(thing), thing]));
  }

  /** Names everything that `findings` will read. */
  want(): void {
    const { state, turn } = this;
    for (const build of this.builds) {
      const { key, field } = this.#place(build.maker);
      state.wantField(key, field);
      for (const claim of this.#claims(build)) {
        state.wantField(this.#claimsKey(build.maker.environmentId, claim.field), claim.field);
      }
      for (const [sourceId, lookupKey] of build.dependsOn) {
        const place = lookupPlace(this.store, { tenant: turn.tenantAlias, sourceId, lookupKey });
        state.wantMember(place.dependents, build.member);
      }
    }
    for (const key of this.#lookupEntries()) state.wantField(key, turn.originId);
    for (const suspect of this.suspects) {
      const { key, field } = this.#suspectPlace(suspect);
      state.wantField(key, field);
    }
  }

  findings(counts: CheckCounts): Finding[] {
    const { turn } = this;
    const { entity, former } = turn;
    counts.entities += entity === null ? 0 : 1;
    if (entity === null) this.#checkGone();
    else if (former === null) this.#add(this.#entityId(), 'was never processed');
    else if (former.stamp !== entity.stamp || former.type !== entity.type) {
      this.#add(
        this.#entityId(),
        'its last change was not processed',
        String(former.stamp),
        String(entity.stamp),
      );
    }
    for (const build of this.builds) {
      this.#checkBytes(build, counts);
      this.#checkClaims(build, counts);
      this.#checkDependents(build);
    }
    if (entity !== null) {
      this.#checkNotMade();
      this.#checkLookups();
    }
    for (const suspect of this.suspects) this.#checkSuspect(suspect);
    return this.#findings;
  }

  #add(subject: string, message: string, ...states: (string | Buffer | null)[]): void {
    this.#findings.push(finding(subject, message, ...states));
  }

  #entityId(): string {
    return formatEntityId(this.turn);
  }

  #place({ kind, environmentId, name }: Pick<MadeThing, 'kind' | 'environmentId' | 'name'>): Place {
    const { tenantAlias: tenant, sourceId, originId } = this.turn;
    return kind === 'view'
      ? { key: keys.views(this.tag, tenant, environmentId), field: viewField(sourceId, name, originId) }
      : { key: keys.items(this.tag, tenant, environmentId, name), field: itemField(sourceId, originId) };
  }

  #claimsKey(environmentId: string, field: string): string {
    const scope = { tenant: this.turn.tenantAlias, environmentId };
    return keys.claims(claimTag(this.store, scope, field), scope.tenant, environmentId);
  }

  #checkGone(): void {
    if (this.turn.former === null) return;
    const subjects = [...this.#former.values()].map((thing) => thingSubject(this.turn, thing));
    for (const subject of subjects.length > 0 ? subjects : [this.#entityId()]) {
      this.#add(subject, 'its entity is gone, but what was made of it is still there');
    }
  }

  #checkNotMade(): void {
    const made = new Set(this.builds.map(({ maker }) => thingKey(maker)));
    for (const [key, thing] of this.#former) {
      if (!made.has(key))
        this.#add(thingSubject(this.turn, thing), 'no schema makes it any more, but it is still there');
    }
  }

  #checkBytes(build: Build, counts: CheckCounts): void {
    const expected = expectedBytes(build, this.autoTypes);
    const subject = thingSubject(this.turn, build.maker);
    const former = this.#former.get(thingKey(build.maker));
    const { key, field } = this.#place(build.maker);
    const stored = this.state.field(key, field);
    if (build.maker.kind === 'view') counts.views += 1;
    else counts.items += 1;
    if (stored === null) this.#add(subject, 'is missing', null, expected);
    else if (!stored.equals(expected)) {
      this.#add(subject, `differs: ${whereTheyDiffer(stored, expected)}`, stored, expected);
    } else if (former === undefined) this.#add(subject, 'is there, but its entity does not know of it');
    else if (!former.bytesDigest.equals(digestOf(expected))) {
      this.#add(subject, 'is right, but its entity remembers other bytes', former.bytesDigest);
    } else if (former.schemaDigest !== build.maker.schemaDigest) {
      this.#add(
        subject,
        'was made by another version of its schema',
        former.schemaDigest,
        build.maker.schemaDigest,
      );
    }
  }

  #claims({ built, maker }: Build): MadeClaim[] {
    const { entity } = this.turn;
    if (built.kind !== 'view' || entity === null) return [];
    return claimsOf(entity, built.claims, formerClaims(this.turn, maker));
  }

  #checkClaims(build: Build, counts: CheckCounts): void {
    const { entity } = this.turn;
    const former = this.#former.get(thingKey(build.maker));
    const expected = new Map(this.#claims(build).map((claim) => [claimKey(claim), claim]));
    const subject = thingSubject(this.turn, build.maker);
    counts.claims += expected.size;
    const remembered = new Map(former?.claims.map((claim) => [claimKey(claim), claim]));
    for (const [key, claim] of remembered) {
      if (!expected.has(key)) this.#add(subject, `should not claim ${shownClaim(claim)}`);
    }
    for (const [key, claim] of expected) {
      const before = remembered.get(key);
      if (former !== undefined && !sameClaim(claim, before)) {
        const message = before === undefined ? 'does not claim' : 'claims with other particulars';
        this.#add(
          subject,
          `${message} ${shownClaim(claim)}`,
          JSON.stringify(before ?? null),
          JSON.stringify(claim),
        );
      }
      const stored = this.#storedClaim(build.maker.environmentId, build.maker.name, claim);
      const isRight =
        stored !== undefined &&
        sameClaim({ ...stored, field: claim.field }, claim) &&
        stored.updatedAtMs === Math.floor((entity?.stamp ?? 0) / 1000);
      if (isRight) continue;
      const message = stored === undefined ? 'is not listed for' : 'is listed with other particulars for';
      this.#add(
        subject,
        `${message} ${shownClaim(claim)}`,
        JSON.stringify(stored ?? null),
        JSON.stringify(claim),
      );
    }
  }

  /** What the claim's field says of this view's claim. */
  #storedClaim(
    environmentId: string,
    alias: string,
    { field, kind, host }: Pick<MadeClaim, 'field' | 'kind' | 'host'>,
  ): Claim | undefined {
    const { sourceId, originId } = this.turn;
    return unpackClaims(this.state.field(this.#claimsKey(environmentId, field), field)).find(
      (claim) =>
        claim.kind === kind &&
        claim.host === host &&
        claim.view.alias === alias &&
        claim.view.sourceId === sourceId &&
        claim.view.originId === originId,
    );
  }

  #checkDependents(build: Build): void {
    const subject = thingSubject(this.turn, build.maker);
    const former = this.#former.get(thingKey(build.maker));
    const remembered = new Set(former?.dependsOn.map(([sourceId, lookupKey]) => `${sourceId}:${lookupKey}`));
    const isSame =
      remembered.size === build.dependsOn.length &&
      build.dependsOn.every(([sourceId, lookupKey]) => remembered.has(`${sourceId}:${lookupKey}`));
    if (former !== undefined && !isSame) {
      this.#add(
        subject,
        'remembers other lookup keys than it reads',
        JSON.stringify(former.dependsOn),
        JSON.stringify(build.dependsOn),
      );
    }
    for (const [sourceId, lookupKey] of build.dependsOn) {
      const place = lookupPlace(this.store, { tenant: this.turn.tenantAlias, sourceId, lookupKey });
      if (this.state.hasMember(place.dependents, build.member)) continue;
      this.#add(
        subject,
        `would not be rebuilt after a change under the lookup key ${JSON.stringify(lookupKey)}`,
      );
    }
  }

  #lookupEntries(): string[] {
    const { tenantAlias: tenant, sourceId } = this.turn;
    const standing = standingOf(this.turn);
    return (standing?.keys ?? []).map((lookupKey) =>
      lookupPlace(this.store, { tenant, sourceId, lookupKey }).entries(standing?.layoutId ?? ''),
    );
  }

  #checkLookups(): void {
    const { place, entity, former, sourceId, originId } = this.turn;
    const standing = standingOf(this.turn);
    const expected = JSON.stringify(standing && [standing.layoutId, [...standing.keys].sort()]);
    const remembered = JSON.stringify(
      former?.lookup ? [former.lookup.layoutId, [...former.lookup.keys].sort()] : null,
    );
    if (former !== null && remembered !== expected) {
      this.#add(this.#entityId(), 'remembers other lookup keys than it stands under', remembered, expected);
    }
    const layout = place?.tenant.lookupLayouts.get(sourceId);
    if (layout === undefined || entity === null) return;
    const projection = JSON.stringify(project(layout, entity));
    for (const key of this.#lookupEntries()) {
      const stored = this.state.field(key, originId);
      if (stored?.toString() === projection) continue;
      const message = stored === null ? 'is missing under' : 'has other values under';
      this.#add(this.#entityId(), `${message} the lookup key ${JSON.stringify(key)}`, stored, projection);
    }
  }

  #suspectPlace(suspect: Suspect): Place {
    const { tenantAlias: tenant, sourceId, originId } = this.turn;
    switch (suspect.kind) {
      case 'view':
      case 'item':
        return this.#place({ ...suspect, kind: suspect.kind });
      case 'claim':
        return { key: this.#claimsKey(suspect.environmentId, suspect.field), field: suspect.field };
      case 'lookup': {
        const { layoutId, lookupKey } = suspect;
        return {
          key: lookupPlace(this.store, { tenant, sourceId, lookupKey }).entries(layoutId),
          field: originId,
        };
      }
    }
  }

  /** Something that is stored, and that the record does not account for. */
  #checkSuspect(suspect: Suspect): void {
    const { key, field } = this.#suspectPlace(suspect);
    const stored = this.state.field(key, field);
    if (stored === null || isKnown(this.turn.former, suspect)) return;
    const message = 'is there, but no entity makes it';
    if (suspect.kind === 'lookup') {
      this.#add(
        this.#entityId(),
        `stands under the lookup key ${JSON.stringify(suspect.lookupKey)} without a reason`,
      );
    } else if (suspect.kind !== 'claim') {
      this.#add(thingSubject(this.turn, suspect), message, stored);
    } else if (
      this.#storedClaim(suspect.environmentId, suspect.alias, { ...suspect, kind: suspect.claimKind })
    ) {
      const { environmentId, alias: name } = suspect;
      const subject = thingSubject(this.turn, { kind: 'view', environmentId, name });
      this.#add(
        subject,
        `is listed for ${shownClaim({ ...suspect, kind: suspect.claimKind })}, which it does not claim`,
      );
    }
  }
}

function expectedBytes(build: Build, autoTypes: AutoTypes): Buffer {
  if (build.built.kind === 'view') return encodeBody(build.built.view.body);
  const stored = storedItem(build, autoTypes);
  if (stored === null) throw new TypeError('not an item');
  return encodeItem(stored.item);
}

function shownClaim({ kind, field, display }: Pick<MadeClaim, 'kind' | 'field' | 'display'>): string {
  const what = field.startsWith('h:') ? 'the handle' : kind === 'page' ? 'the URL' : 'the redirect URL';
  return `${what} ${JSON.stringify(display)}`;
}
