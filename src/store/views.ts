/** Views as they will be sent: JSON text cut at its references (design: delivery concatenates bytes, it parses nothing). */
import type { EntityRef } from '../contract/ids.ts';
import type { ViewBody } from '../schemas/types.ts';
import type { HashField } from './field-reader.ts';
import { keys, viewField } from './keys.ts';
import type { Store } from './store.ts';
import type { EnvironmentScope, StoredBody, StoredReference, ViewTarget } from './types.ts';

/**
 * First byte of a stored body. `plainText`: the text alone follows. `cutText`: numbers of 32 bits (count of references;
 * for each reference the lengths of its five names in UTF-16 units; for each text its bytes; bytes of all names), then
 * all names as one text, then the texts. One text for all names, because decoding one is nearly as dear as decoding
 * many; the first three stand in it as the field of the view.
 */
const plainText = 0;
const cutText = 1;
const namesPerReference = 5;
const numberBytes = 4;
/** In place of the length of a source id: the reference has no target. */
const noTarget = 0xffff_ffff;

/** The stored form of a built view. Equal bodies give equal bytes. */
export function encodeBody(body: ViewBody): Buffer {
  const texts = body.texts.map((text) => Buffer.from(text));
  const [text = Buffer.alloc(0)] = texts;
  if (body.references.length === 0) return Buffer.concat([Buffer.of(plainText), text]);
  const named = body.references.map(({ target, viewId, path }) =>
    target === null
      ? ['', '', '', viewId, path]
      : [target.sourceId, target.alias, target.originId, viewId, path],
  );
  const joined = named.map(([sourceId = '', alias = '', originId = '', ...others], at) =>
    [body.references[at]?.target === null ? '' : viewField(sourceId, alias, originId), ...others].join(''),
  );
  const lengths = named.flatMap((names, at) => {
    const [first = 0, ...others] = names.map((name) => name.length);
    return [body.references[at]?.target === null ? noTarget : first, ...others];
  });
  const names = Buffer.from(joined.join(''));
  const numbers = [named.length, ...lengths, ...texts.map((one) => one.length), names.length];
  const head = Buffer.alloc(1 + numbers.length * numberBytes);
  head[0] = cutText;
  numbers.forEach((number, index) => {
    head.writeUInt32LE(number, 1 + index * numberBytes);
  });
  return Buffer.concat([head, names, ...texts]);
}

export function decodeBody(stored: Buffer): StoredBody {
  if (stored[0] === plainText) return { texts: [stored.subarray(1)], references: [] };
  const count = stored.readUInt32LE(1);
  const lengthsAt = 1 + numberBytes;
  const textsAt = lengthsAt + count * namesPerReference * numberBytes;
  const namesBytesAt = textsAt + (count + 1) * numberBytes;
  const namesAt = namesBytesAt + numberBytes;
  const namesEnd = namesAt + stored.readUInt32LE(namesBytesAt);
  const references = decodeReferences(stored, lengthsAt, count, stored.toString('utf8', namesAt, namesEnd));
  const texts: Buffer[] = [];
  for (let at = namesEnd, index = 0; index <= count; index += 1) {
    const end = at + stored.readUInt32LE(textsAt + index * numberBytes);
    texts.push(stored.subarray(at, end));
    at = end;
  }
  return { texts, references };
}

function decodeReferences(
  stored: Buffer,
  lengthsAt: number,
  count: number,
  names: string,
): StoredReference[] {
  const references: StoredReference[] = [];
  let lengthAt = lengthsAt;
  let from = 0;
  for (let index = 0; index < count; index += 1) {
    const first = stored.readUInt32LE(lengthAt);
    const hasTarget = first !== noTarget;
    const aliasFrom = from + (hasTarget ? first + 1 : 0);
    const originFrom = aliasFrom + (hasTarget ? stored.readUInt32LE(lengthAt + numberBytes) + 1 : 0);
    const viewFrom = originFrom + stored.readUInt32LE(lengthAt + 2 * numberBytes);
    const pathFrom = viewFrom + stored.readUInt32LE(lengthAt + 3 * numberBytes);
    const end = pathFrom + stored.readUInt32LE(lengthAt + 4 * numberBytes);
    references.push({
      target: hasTarget
        ? {
            sourceId: names.slice(from, aliasFrom - 1),
            alias: names.slice(aliasFrom, originFrom - 1),
            originId: names.slice(originFrom, viewFrom),
            field: names.slice(from, viewFrom),
          }
        : null,
      viewId: names.slice(viewFrom, pathFrom),
      path: names.slice(pathFrom, end),
    });
    lengthAt += namesPerReference * numberBytes;
    from = end;
  }
  return references;
}

export function viewTarget({
  sourceId,
  alias,
  originId,
}: EntityRef & { readonly alias: string }): ViewTarget {
  return { sourceId, alias, originId, field: viewField(sourceId, alias, originId) };
}

/** Where a view lies. */
export function placeOfView(
  { partitions }: Store,
  { tenant, environmentId }: EnvironmentScope,
  { sourceId, originId, field }: ViewTarget,
): HashField {
  const tag = partitions.tag(partitions.ofEntity(sourceId, originId));
  return { key: keys.views(tag, tenant, environmentId), field };
}

/** Views in the order asked; null where there is none. @throws StoreUnavailableError */
export async function readViews(
  store: Store,
  scope: EnvironmentScope,
  refs: readonly (EntityRef & { readonly alias: string })[],
): Promise<(StoredBody | null)[]> {
  const stored = await store.fields.read(refs.map((ref) => placeOfView(store, scope, viewTarget(ref))));
  return stored.map((bytes) => (bytes === null ? null : decodeBody(bytes)));
}
