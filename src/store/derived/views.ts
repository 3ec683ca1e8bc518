/** Views as they will be sent: JSON text cut at its references. Delivery concatenates bytes and parses nothing. */
import type { EntityRef } from '../../contract/ids.ts';
import type { EnvironmentScope } from '../environment-scope.ts';
import { keys, largeBodyField, viewField, viewIdentity } from '../keys.ts';
import { answerOf } from '../redis/errors.ts';
import type { HashField } from '../redis/field-reader.ts';
import type { Store } from '../store.ts';
import { bytesApart, decodeBody, type StoredBody, type ViewTarget } from './stored-body.ts';

/** A view with its identity, as references and reads name it. */
export function viewTarget({
  sourceId,
  alias,
  originId,
}: EntityRef & { readonly alias: string }): ViewTarget {
  return { sourceId, alias, originId, identity: viewIdentity(sourceId, alias, originId) };
}

/** Where a view lies. */
export function placeOfView(
  { partitions }: Store,
  { tenant, environmentId }: EnvironmentScope,
  { sourceId, alias, originId }: EntityRef & { readonly alias: string },
): HashField {
  const tag = partitions.tag(partitions.ofEntity(sourceId, originId));
  return { key: keys.views(tag, tenant, environmentId, sourceId), field: viewField(alias, originId) };
}

/** Whether each of the views is there, in the order asked. @throws StoreUnavailableError */
export async function viewsAreThere(
  store: Store,
  scope: EnvironmentScope,
  refs: readonly (EntityRef & { readonly alias: string })[],
): Promise<boolean[]> {
  return await answerOf(
    Promise.all(
      refs.map(async (ref) => {
        const { key, field } = placeOfView(store, scope, ref);
        return (await store.client.hexists(key, field)) === 1;
      }),
    ),
  );
}

/** Where the body of a large view lies. */
export function placeApart({ key, field }: HashField): HashField {
  return { key, field: largeBodyField(field) };
}

/** A view as it is stored; null where there is none. @throws StoreUnavailableError */
export async function readView(
  store: Store,
  scope: EnvironmentScope,
  ref: EntityRef & { readonly alias: string },
): Promise<StoredBody | null> {
  const { key, field } = placeOfView(store, scope, ref);
  const stored = await answerOf(store.client.hgetBuffer(key, field));
  if (stored === null || bytesApart(stored) === null) return stored && decodeBody(stored, ref.sourceId);
  const apart = await answerOf(store.client.hgetBuffer(key, largeBodyField(field)));
  return apart && decodeBody(apart, ref.sourceId);
}
