/** Computes the claims of a view on URLs, handles and redirects, with their ages. Pure. */
import { normalizeUrl, type UrlForm } from '../../config/urls/url.ts';
import type { StoredEntity } from '../../contract/entity.ts';
import { laterState, stateAt } from '../../contract/publish-times.ts';
import type { ViewClaims } from '../../schemas/schema.ts';
import {
  claimKey,
  type ProcessedClaim,
  type ProcessedOutput,
  type ProcessedRecord,
  processedState,
} from '../../store/derived/processed-record.ts';
import { claimField, foldedField, urlFormOfField } from '../../store/keys.ts';
import type { OutputName } from './builder.ts';
import type { Output } from './output.ts';
import type { Turn } from './turn.ts';

/** The entity's claims in the environment when it was last processed, by `ageKey`; the oldest of equal claims. */
export interface FormerClaims {
  readonly ofView: ReadonlyMap<string, ProcessedClaim>;
  readonly ofOtherViews: ReadonlyMap<string, ProcessedClaim>;
  /** The last processed state; null if there is none since the entity was created. */
  readonly processed: Pick<ProcessedRecord, 'stamp' | 'type'> | null;
  /** The time when the entity was published; null if it always was. */
  readonly published: Published | null;
}

interface Published {
  readonly stamp: number;
  /** True if the last processed state is older, so its claims have ended. */
  readonly endsFormer: boolean;
}

/** True if two claims with the same key also have the same age and texts. */
export function sameClaim(a: ProcessedClaim, b: ProcessedClaim | undefined): boolean {
  if (b === undefined) return false;
  return (
    a.host === b.host && a.sinceStamp === b.sinceStamp && a.display === b.display && a.redirect === b.redirect
  );
}

/**
 * True if the claims of the record are stored and need not be written again. A repair does not trust the record. A restored
 * record has ages of claims but no bytes, so nothing is stored yet.
 */
export function isListed(turn: Turn, former: ProcessedOutput | null): boolean {
  return turn.repair === null && former !== null && former.bytesDigest.length > 0;
}

/**
 * Identifies a claim across changes of its tenant's URL form (`store/configuration/url-forms.ts`), so that it keeps its
 * age.
 */
function ageKey(
  { kind, host, field }: Pick<ProcessedClaim, 'kind' | 'host' | 'field'>,
  form: UrlForm,
): string {
  if (isInForm(field, form)) return claimKey({ kind, host, field });
  return claimKey({ kind, host, field: foldedField(field) });
}

const stampsPerMs = 1000;
const noClaims: ReadonlyMap<string, ProcessedClaim> = new Map();
export const noFormerClaims: FormerClaims = {
  ofView: noClaims,
  ofOtherViews: noClaims,
  processed: null,
  published: null,
};

/** The entity's earlier claims in the environment of a builder. Only its record has their ages. */
export function formerClaims(
  { former, entity, urlForm }: Turn,
  builder: Pick<OutputName, 'environmentId' | 'name'>,
): FormerClaims {
  const processed = former !== null && entity !== null && former.stamp >= entity.bornStamp ? former : null;
  const published = entity === null ? null : publicationOf(entity, processed);
  if (former === null) return published === null ? noFormerClaims : { ...noFormerClaims, published };
  const views = former.outputs.filter(
    ({ kind, environmentId }) => kind === 'view' && environmentId === builder.environmentId,
  );
  const isOfBuilder = ({ name }: ProcessedOutput) => name === builder.name;
  return {
    ofView: oldestClaims(views.filter(isOfBuilder), urlForm),
    ofOtherViews: oldestClaims(
      views.filter((view) => !isOfBuilder(view)),
      urlForm,
    ),
    processed,
    published,
  };
}

/** @param processed the last processed state since the entity was created */
function publicationOf({ times, stamp }: StoredEntity, processed: ProcessedRecord | null): Published | null {
  const atMoment = times?.publishAt == null ? null : began(times.publishAt * stampsPerMs);
  if (processed === null) return atMoment;
  const before = processedState(processed);
  // The stamp of a restored record is between two stamps.
  if (Math.floor(processed.stamp) === stamp) {
    if (before !== 'published') return atMoment;
    // A view whose build was deferred at that moment is new.
    const wasBySchedule = processed.times?.isBySchedule === true;
    return atMoment !== null && wasBySchedule ? { ...atMoment, endsFormer: false } : null;
  }
  // The save set a publication time in the future.
  if (atMoment !== null && atMoment.stamp > stamp) return atMoment;
  const atSave = laterState(before, stateAt(processed.times, stamp / stampsPerMs));
  if (atSave !== 'published') return began(stamp);
  if (before === 'published') return null;
  // It was published before the save, but that was not processed.
  return began((processed.times?.publishAt ?? 0) * stampsPerMs);
}

function began(stamp: number): Published {
  return { stamp, endsFormer: true };
}

function oldestClaims(views: readonly ProcessedOutput[], form: UrlForm): Map<string, ProcessedClaim> {
  const oldest = new Map<string, ProcessedClaim>();
  for (const claim of views.flatMap(({ claims }) => claims)) {
    const key = ageKey(claim, form);
    const known = oldest.get(key);
    if (known === undefined || claim.sinceStamp < known.sinceStamp) oldest.set(key, claim);
  }
  return oldest;
}

/** The claims of a built view of a turn; none for an item. */
export function claimsOfOutput({ turn, result, builder }: Output): ProcessedClaim[] {
  if (result.kind !== 'view' || turn.entity === null) return [];
  // Most views claim nothing, so former claims need not be looked for.
  if (result.claims.url === null && result.claims.handles.length === 0) return [];
  return claimsOf(turn.entity, result.claims, formerClaims(turn, builder), turn.urlForm);
}

/**
 * The claims of a view. An existing claim keeps its age: it counts from when the entity first made the claim
 * (docs/reference/configuration.md "URLs and domains"). A claim that the entity had dropped, or that it makes after being
 * deleted, starts with a new age.
 */
export function claimsOf(
  entity: StoredEntity,
  { url, handles, pages }: ViewClaims,
  former: FormerClaims,
  form: UrlForm,
): ProcessedClaim[] {
  const claims = new Claims(entity, former);
  for (const handle of handles) {
    claims.add({
      field: claimField.handle(handle),
      host: null,
      kind: 'page',
      display: handle,
      redirect: null,
    });
  }
  const claimed = pages ?? (url === null ? [] : [{ url, redirects: entity.redirects }]);
  for (const page of claimed) addPage(claims, page, form);
  return claims.list;
}

function addPage(
  claims: Claims,
  { url, redirects }: NonNullable<ViewClaims['pages']>[number],
  form: UrlForm,
): void {
  const page = normalizeUrl(url);
  if (page === null) return;
  const pageField = claimField.url(page.path, form);
  claims.add({
    field: pageField,
    host: page.host,
    kind: 'page',
    display: url,
    redirect: null,
  });
  for (const redirect of redirects) {
    const from = normalizeUrl(redirect);
    if (from === null) continue;
    const field = claimField.url(from.path, form);
    if (field === pageField && from.host === page.host) continue;
    claims.add({
      field,
      host: from.host,
      kind: 'redirect',
      display: redirect,
      redirect: url,
    });
  }
}

/**
 * Converts the claims of a view that is not rebuilt to the current URL form, the only one that readers use. Claims that
 * become equal are merged: the oldest age wins, and a page wins over redirects to it.
 */
export function claimsInForm(claims: readonly ProcessedClaim[], form: UrlForm): readonly ProcessedClaim[] {
  if (claims.every(({ field }) => isInForm(field, form))) return claims;
  const moved = new Map<string, ProcessedClaim>();
  for (const claim of claims) {
    const here = { ...claim, field: fieldInForm(claim, form) };
    const key = claimKey(here);
    const known = moved.get(key) ?? here;
    moved.set(key, { ...known, sinceStamp: Math.min(known.sinceStamp, here.sinceStamp) });
  }
  return [...moved.values()].filter(
    (claim) => claim.kind === 'page' || !moved.has(claimKey({ ...claim, kind: 'page' })),
  );
}

function isInForm(field: string, form: UrlForm): boolean {
  const formOfField = urlFormOfField(field);
  return formOfField === null || formOfField === form;
}

function fieldInForm({ field, display }: ProcessedClaim, form: UrlForm): string {
  const path = isInForm(field, form) ? undefined : normalizeUrl(display)?.path;
  return path === undefined ? field : claimField.url(path, form);
}

/** Collects each claim once, with its age. */
class Claims {
  readonly list: ProcessedClaim[] = [];
  readonly #keys = new Set<string>();

  constructor(
    private readonly entity: StoredEntity,
    private readonly former: FormerClaims,
  ) {}

  add(claim: Omit<ProcessedClaim, 'sinceStamp'>): void {
    const key = claimKey(claim);
    if (this.#keys.has(key)) return;
    this.#keys.add(key);
    const { published } = this.former;
    const { field, host, kind, display, redirect } = claim;
    const before = published?.endsFormer === true ? undefined : this.#before(key, claim);
    const processed = published?.endsFormer === true ? null : this.former.processed;
    const isOfOtherView = before !== undefined && before === this.former.ofOtherViews.get(key);
    const own = sinceStamp(this.entity, claim, before, processed, isOfOtherView);
    const since = published === null || before !== undefined ? own : Math.max(published.stamp, own);
    this.list.push({ field, host, kind, sinceStamp: since, display, redirect });
  }

  /** The same claim when it was last processed. */
  #before(key: string, claim: Omit<ProcessedClaim, 'sinceStamp'>): ProcessedClaim | undefined {
    const { ofView, ofOtherViews } = this.former;
    return ofView.get(key) ?? ofOtherViews.get(key) ?? this.#beforeInOtherForm(claim);
  }

  /** The same claim in the other URL form, in lower case. */
  #beforeInOtherForm({ kind, host, field }: Omit<ProcessedClaim, 'sinceStamp'>): ProcessedClaim | undefined {
    if (urlFormOfField(field) !== 'exact') return undefined;
    const key = claimKey({ kind, host, field: foldedField(field) });
    return this.former.ofView.get(key) ?? this.former.ofOtherViews.get(key);
  }
}

function sinceStamp(
  entity: StoredEntity,
  claim: Omit<ProcessedClaim, 'sinceStamp'>,
  before: ProcessedClaim | undefined,
  processed: FormerClaims['processed'],
  isOfOtherView: boolean,
): number {
  const isOwnUrl = claim.display === entity.url;
  // Changes before the first turn are not recorded. Most likely the claim was there from the start.
  if (processed === null) return isOwnUrl ? entity.urlStamp : entity.bornStamp;
  const isNewUrl = isOwnUrl && entity.urlStamp > processed.stamp;
  if (before !== undefined) {
    // The URL may have changed and changed back between two turns of this entity, unless it moved here from another view.
    return isNewUrl && !isOfOtherView && before.display === claim.display
      ? entity.urlStamp
      : before.sinceStamp;
  }
  const isOfNewType = processed.type !== entity.type;
  return isNewUrl || (isOwnUrl && !isOfNewType) ? entity.urlStamp : entity.stamp;
}
