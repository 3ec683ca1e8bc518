/** Removing source entities. */
import { randomBytes } from 'node:crypto';
import { groupBy } from '../../lib/lists.ts';
import { keys } from '../keys.ts';
import { surviving } from '../redis/replication.ts';
import { Script } from '../redis/script.ts';
import type { Store } from '../store.ts';
import type { VersionVector } from '../visibility/version.ts';

const remove = new Script<[number, number[]]>('entities/remove', 4);

/** Removes entities; `removed` says which were there. @throws StoreUnavailableError */
export async function removeEntities(
  store: Store,
  request: { readonly tenant: string; readonly sourceId: string; readonly originIds: readonly string[] },
): Promise<{ removed: boolean[]; version: VersionVector }> {
  const { tenant, sourceId, originIds } = request;
  const token = randomBytes(8).toString('base64url');
  const removed: boolean[] = new Array(originIds.length).fill(false);
  const version = new Map<number, number>();
  const groups = groupBy(originIds.keys(), (position) =>
    store.partitions.ofEntity(sourceId, originIds[position] ?? ''),
  );
  const removeGroup = async ([partition, positions]: readonly [number, readonly number[]]) => {
    const tag = store.partitions.tag(partition);
    const [sequence, found] = await remove.run(
      store.client,
      [keys.clock(tag), keys.stream(tag), keys.entities(tag, tenant, sourceId), keys.removal(tag, token)],
      [tenant, sourceId, ...positions.map((position) => originIds[position] ?? '')],
    );
    version.set(partition, sequence);
    for (const [index, position] of positions.entries()) removed[position] = found[index] === 1;
  };
  const tags = [...groups.keys()].map((partition) => store.partitions.tag(partition));
  await surviving(store.acknowledgements, tags, () => Promise.all([...groups].map(removeGroup)));
  return { removed, version };
}
