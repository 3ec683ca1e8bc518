/** Which URLs, handles and redirects a view claims, and since when. Pure. */
import { normalizeUrl } from '../config/url.ts';
import type { StoredEntity } from '../contract/entity.ts';
import type { ViewClaims } from '../schemas/types.ts';
import { claimField } from '../store/keys.ts';
import type { MadeClaim } from '../store/processed.ts';

/**
 * The claims of a view. A claim that the entity made before keeps its age (contract section 5: a claim's age counts
 * from when its entity began to make it); one that it took up again, or made after being deleted, begins anew.
 */
export function claimsOf(
  entity: StoredEntity,
  { url, handles }: ViewClaims,
  former: readonly MadeClaim[],
): MadeClaim[] {
  const claims = new Map<string, MadeClaim>();
  const add = (
    field: string,
    host: string | null,
    kind: MadeClaim['kind'],
    display: string,
    redirect: string | null,
  ) => {
    const key = `${kind}:${field}`;
    if (claims.has(key)) return;
    const before = former.find((claim) => claim.field === field && claim.kind === kind);
    claims.set(key, {
      field,
      host,
      kind,
      sinceStamp: sinceStamp(entity, display, before),
      display,
      redirect,
    });
  };
  for (const handle of handles) add(claimField.handle(handle), null, 'page', handle, null);
  const page = url === null ? null : normalizeUrl(url);
  if (url === null || page === null) return [...claims.values()];
  add(claimField.url(page.path), page.host, 'page', url, null);
  for (const redirect of entity.redirects) {
    const from = normalizeUrl(redirect);
    if (from === null || (from.path === page.path && from.host === page.host)) continue;
    add(claimField.url(from.path), from.host, 'redirect', redirect, url);
  }
  return [...claims.values()];
}

function sinceStamp(entity: StoredEntity, display: string, before: MadeClaim | undefined): number {
  const isOwnUrl = display === entity.url;
  const begun = isOwnUrl ? entity.urlStamp : entity.stamp;
  if (before === undefined || before.sinceStamp < entity.bornStamp) return begun;
  // The url went elsewhere and came back between two turns of this entity.
  if (isOwnUrl && before.display === display && entity.urlStamp > before.sinceStamp) return entity.urlStamp;
  return before.sinceStamp;
}
