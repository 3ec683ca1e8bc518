/** Which URLs, handles and redirects a view claims, and since when. Pure. */
import { normalizeUrl } from '../../config/urls/url.ts';
import type { StoredEntity } from '../../contract/entity.ts';
import type { ViewClaims } from '../../schemas/schema.ts';
import type { MadeClaim } from '../../store/derived/processed-record.ts';
import { claimField } from '../../store/keys.ts';
import type { FormerClaims } from './former.ts';
import { claimKey } from './output-key.ts';

/**
 * The claims of a view. A claim that the entity made before keeps its age (contract section 5: a claim's age counts
 * from when its entity began to make it); one that it took up again, or made after being deleted, begins anew.
 */
export function claimsOf(
  entity: StoredEntity,
  { url, handles }: ViewClaims,
  former: FormerClaims,
): MadeClaim[] {
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
  const page = url === null ? null : normalizeUrl(url);
  if (url === null || page === null) return claims.list;
  claims.add({
    field: claimField.url(page.path),
    host: page.host,
    kind: 'page',
    display: url,
    redirect: null,
  });
  for (const redirect of entity.redirects) {
    const from = normalizeUrl(redirect);
    if (from === null || (from.path === page.path && from.host === page.host)) continue;
    claims.add({
      field: claimField.url(from.path),
      host: from.host,
      kind: 'redirect',
      display: redirect,
      redirect: url,
    });
  }
  return claims.list;
}

/** Each claim once, with its age. */
class Claims {
  readonly list: MadeClaim[] = [];
  readonly #keys = new Set<string>();

  constructor(
    private readonly entity: StoredEntity,
    private readonly former: FormerClaims,
  ) {}

  add(claim: Omit<MadeClaim, 'sinceStamp'>): void {
    const key = claimKey(claim);
    if (this.#keys.has(key)) return;
    this.#keys.add(key);
    const { ofView, ofOtherViews, processed } = this.former;
    const before = ofView.get(key) ?? ofOtherViews.get(key);
    const { field, host, kind, display, redirect } = claim;
    const since = sinceStamp(this.entity, claim, before, processed);
    this.list.push({ field, host, kind, sinceStamp: since, display, redirect });
  }
}

function sinceStamp(
  entity: StoredEntity,
  claim: Omit<MadeClaim, 'sinceStamp'>,
  before: MadeClaim | undefined,
  processed: FormerClaims['processed'],
): number {
  const isOwnUrl = claim.display === entity.url;
  // Changes between birth and the first turn are not known one by one: most likely the claim was there from the start.
  if (processed === null) return isOwnUrl ? entity.urlStamp : entity.bornStamp;
  const isNewUrl = isOwnUrl && entity.urlStamp > processed.stamp;
  if (before !== undefined) {
    // The url went elsewhere and came back between two turns of this entity.
    return isNewUrl && before.display === claim.display ? entity.urlStamp : before.sinceStamp;
  }
  const isOfNewType = processed.type !== entity.type;
  return isNewUrl || (isOwnUrl && !isOfNewType) ? entity.urlStamp : entity.stamp;
}
