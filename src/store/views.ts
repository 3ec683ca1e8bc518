/** Views as they will be sent: JSON text cut at its references (design: delivery concatenates bytes, it parses nothing). */
import type { EntityRef } from '../contract/ids.ts';
import type { ViewBody } from '../schemas/types.ts';
import { storeError } from './connection.ts';
import { keys, viewField } from './keys.ts';
import { pack, unpack } from './pack.ts';
import type { Store } from './store.ts';
import type { EnvironmentScope, StoredBody, StoredReference } from './types.ts';

/** First byte of a stored body: the text alone follows, or a packed list of texts and references. */
const plainText = 0;
const cutText = 1;

type PackedReference = [
  sourceId: string | null,
  alias: string,
  originId: string,
  viewId: string,
  path: string,
];

/** The stored form of a built view. Equal bodies give equal bytes. */
export function encodeBody(body: ViewBody): Buffer {
  const [text = ''] = body.texts;
  if (body.references.length === 0) return Buffer.concat([Buffer.of(plainText), Buffer.from(text)]);
  const references = body.references.map<PackedReference>(({ target, viewId, path }) =>
    target === null
      ? [null, '', '', viewId, path]
      : [target.sourceId, target.alias, target.originId, viewId, path],
  );
  return Buffer.concat([
    Buffer.of(cutText),
    pack([body.texts.map((piece) => Buffer.from(piece)), references]),
  ]);
}

export function decodeBody(stored: Buffer): StoredBody {
  if (stored[0] === plainText) return { texts: [stored.subarray(1)], references: [] };
  const [texts, references] = unpack<[Buffer[], PackedReference[]]>(stored.subarray(1));
  return { texts, references: references.map(decodeReference) };
}

function decodeReference([sourceId, alias, originId, viewId, path]: PackedReference): StoredReference {
  return { target: sourceId === null ? null : { sourceId, alias, originId }, viewId, path };
}

/** Views in the order asked; null where there is none. @throws StoreUnavailableError */
export async function readViews(
  store: Store,
  { tenant, environmentId }: EnvironmentScope,
  refs: readonly (EntityRef & { readonly alias: string })[],
): Promise<(StoredBody | null)[]> {
  const positionsOf = new Map<number, number[]>();
  refs.forEach(({ sourceId, originId }, position) => {
    const partition = store.partitions.ofEntity(sourceId, originId);
    const positions = positionsOf.get(partition);
    if (positions === undefined) positionsOf.set(partition, [position]);
    else positions.push(position);
  });
  const result: (StoredBody | null)[] = new Array(refs.length).fill(null);
  try {
    await Promise.all(
      [...positionsOf].map(async ([partition, positions]) => {
        const fields = positions.map((position) => fieldOf(refs[position]));
        const key = keys.views(store.partitions.tag(partition), tenant, environmentId);
        const bodies = await store.client.hmgetBuffer(key, ...fields);
        positions.forEach((position, index) => {
          const body = bodies[index];
          if (body) result[position] = decodeBody(body);
        });
      }),
    );
  } catch (error) {
    throw storeError(error);
  }
  return result;
}

function fieldOf(ref: (EntityRef & { readonly alias: string }) | undefined): string {
  return ref === undefined ? '' : viewField(ref.sourceId, ref.alias, ref.originId);
}
