import type { EntityRef } from '../../src/contract/ids.ts';
import { bytesApart, decodeBody, type StoredBody } from '../../src/store/derived/stored-body.ts';
import { bodyIn, fieldOfLargeBody, fieldOfView } from '../../src/store/derived/views.ts';
import type { EnvironmentScope } from '../../src/store/scopes.ts';
import type { Store } from '../../src/store/store.ts';

/** Views as stored, in the given order; null for missing ones. */
export async function readViews(
  store: Store,
  scope: EnvironmentScope,
  refs: readonly (EntityRef & { readonly alias: string })[],
): Promise<(StoredBody | null)[]> {
  const places = refs.map((ref) => fieldOfView(store, scope, ref));
  const inline = await store.fields.read(places);
  const bodies = await store.large.read(places.map(fieldOfLargeBody));
  const stored = inline.map((bytes, at) =>
    bytes !== null && bytesApart(bytes) !== null ? bodies[at] : bytes,
  );
  return await Promise.all(
    refs.map(async (ref, at) => {
      const body = await bodyIn(store, scope, ref, stored[at] ?? null);
      return body && decodeBody(body, ref.sourceId);
    }),
  );
}
