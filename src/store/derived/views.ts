/** Views as JSON text cut at its references. Delivery concatenates bytes and does not parse. */
import type { EntityRef } from '../../contract/ids.ts';
import { findNames, knownNames } from '../codec/name-lists.ts';
import { keys, largeBodyField, viewField, viewIdentity } from '../keys.ts';
import type { HashField } from '../redis/field-reader.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { EnvironmentScope } from '../scopes.ts';
import type { Store } from '../store.ts';
import { namesDigestOfBody, withNames } from './nameless-body.ts';
import { bytesApart, decodeBody, type StoredBody, type ViewTarget } from './stored-body.ts';

type View = EntityRef & { readonly alias: string };

/** A view with its identity, for references and reads. */
export function viewTarget({ sourceId, alias, originId }: View): ViewTarget {
  return { sourceId, alias, originId, identity: viewIdentity({ sourceId, alias, originId }) };
}

/** Where a view is stored. */
export function fieldOfView(
  { partitions }: Store,
  { tenant, environmentId }: EnvironmentScope,
  { sourceId, alias, originId }: View,
): HashField {
  const tag = partitions.tag(partitions.ofEntity(sourceId, originId));
  return { key: keys.views(tag, tenant, environmentId, sourceId), field: viewField(alias, originId) };
}

/** Whether each view exists, in the order given. @throws StoreUnavailableError */
export async function viewsAreThere(
  store: Store,
  scope: EnvironmentScope,
  refs: readonly View[],
): Promise<boolean[]> {
  return await answerOf(
    Promise.all(
      refs.map(async (ref) => {
        const { key, field } = fieldOfView(store, scope, ref);
        return (await store.client.hexists(key, field)) === 1;
      }),
    ),
  );
}

/** Where the body of a large view is stored. */
export function fieldOfLargeBody({ key, field }: HashField): HashField {
  return { key, field: largeBodyField(field) };
}

/**
 * The body of a view as from `encodeBody`, given the value of its field; null if there is no view. Returned without a promise
 * unless a list of names has to be read.
 * @throws StoreUnavailableError
 */
export function bodyIn(
  store: Store,
  scope: EnvironmentScope,
  ref: EntityRef,
  stored: Buffer | null,
): Buffer | null | Promise<Buffer | null> {
  const digest = stored && namesDigestOfBody(stored);
  if (stored === null || digest === null) return stored;
  const names = knownNames({ tenant: scope.tenant, sourceId: ref.sourceId }, digest);
  if (names !== undefined) return withNames(stored, names);
  return readBodyIn(store, scope, ref, stored, digest);
}

/** Lists are removed with the last entity of a source: if the list is gone, so is the view. */
async function readBodyIn(
  store: Store,
  { tenant }: EnvironmentScope,
  { sourceId, originId }: EntityRef,
  stored: Buffer,
  digest: Buffer,
): Promise<Buffer | null> {
  const tag = store.partitions.tag(store.partitions.ofEntity(sourceId, originId));
  const [names] = await findNames(store, { tag, tenant, sourceId }, [digest]);
  return names ? withNames(stored, names) : null;
}

/**
 * A view as stored; null if there is none or it is larger than `bytesMax`.
 * @param bytesMax applies to large views, which are stored separately
 * @throws StoreUnavailableError
 */
export async function readView(
  store: Store,
  scope: EnvironmentScope,
  ref: View,
  bytesMax = Number.POSITIVE_INFINITY,
): Promise<StoredBody | null> {
  const field = fieldOfView(store, scope, ref);
  const [stored = null] = await store.fields.read([field]);
  const bytes = stored === null ? null : bytesApart(stored);
  if (bytes !== null && bytes > bytesMax) return null;
  const isApart = bytes !== null;
  const [apart = null] = isApart ? await store.large.read([fieldOfLargeBody(field)]) : [];
  const body = isApart ? apart : await bodyIn(store, scope, ref, stored);
  return body && decodeBody(body, ref.sourceId);
}
