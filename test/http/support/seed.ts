/** Writes views and claims, as a partition's owner would. */

import { normalizeUrl } from '../../../src/config/urls/url.ts';
import { formatViewId } from '../../../src/contract/ids.ts';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import type { Claim } from '../../../src/store/claims/claim-records.ts';
import { writeClaims } from '../../../src/store/claims/claims.ts';
import { encodeBody, storedFields } from '../../../src/store/derived/stored-body.ts';
import { claimField, keys, viewField } from '../../../src/store/keys.ts';
import type { Store } from '../../../src/store/store.ts';
import { environmentId, sourceId } from './site.ts';

/** Of the tenants of `site.ts`. */
type TenantAlias = 'one' | 'two';

const scopeOf = (tenant: TenantAlias) => ({ tenant, environmentId });

export function viewIdOf(originId: string): string {
  return formatViewId({ environmentId, sourceId, originId, alias: 'page' });
}

/** A view `{"title":…, <name>: <the referenced view>}`. */
export async function putView(
  store: Store,
  originId: string,
  title: string,
  references: Readonly<Record<string, string>> = {},
  tenant: TenantAlias = 'one',
): Promise<void> {
  await putViews(store, [originId], title, references, tenant);
}

/** The same view of several entities. */
export async function putViews(
  store: Store,
  originIds: readonly string[],
  title: string,
  references: Readonly<Record<string, string>> = {},
  tenant: TenantAlias = 'one',
): Promise<void> {
  const entries = Object.entries(references);
  const texts = [`{"title":${JSON.stringify(title)}`];
  for (const [name] of entries) {
    texts[texts.length - 1] += `,${JSON.stringify(name)}:`;
    texts.push('');
  }
  texts[texts.length - 1] += '}';
  const body = finish(
    encodeBody(
      {
        texts,
        references: entries.map(([name, other]) => ({
          target: { environmentId, sourceId, originId: other, alias: 'page' },
          viewId: null,
          path: `.${name}`,
        })),
      },
      sourceId,
    ),
  );
  for (const originId of originIds) {
    const tag = store.partitions.tag(store.partitions.ofEntity(sourceId, originId));
    await store.client.hset(
      keys.views(tag, tenant, environmentId, sourceId),
      storedFields(viewField('page', originId), body).flat(),
    );
  }
}

export async function putClaim(
  store: Store,
  originId: string,
  claim: { url?: string; handle?: string; redirect?: string; since?: number; action?: 'put' | 'drop' },
  tenant: TenantAlias = 'one',
): Promise<void> {
  const { url, handle, redirect, since = 1, action = 'put' } = claim;
  const normal = url === undefined ? null : normalizeUrl(url);
  const written: Claim = {
    host: normal?.host ?? null,
    kind: redirect === undefined ? 'page' : 'redirect',
    sinceStamp: since,
    view: { sourceId, originId, alias: 'page' },
    display: url ?? handle ?? '',
    redirect: redirect ?? null,
  };
  const field = normal === null ? claimField.handle(handle ?? '') : claimField.url(normal.path);
  await writeClaims(store, { partition: 0, epoch: 1 }, [
    { action, scope: scopeOf(tenant), field, claim: written },
  ]);
}
