/** Removing source entities. */
import { randomBytes } from 'node:crypto';
import { keys } from '../keys.ts';
import { surviving } from '../redis/replication.ts';
import { Script } from '../redis/script.ts';
import type { Store } from '../store.ts';
import type { VersionVector } from '../visibility/version.ts';

const remove = new Script<[number, number[]]>('entities/remove', 5);

/** Removes entities; `removed` says which were there. @throws StoreUnavailableError */
export async function removeEntities(
  store: Store,
  request: { readonly tenant: string; readonly sourceId: string; readonly originIds: readonly string[] },
): Promise<{ removed: boolean[]; version: VersionVector }> {
  const { tenant, sourceId, originIds } = request;
  const token = randomBytes(8).toString('base64url');
  const removed: boolean[] = new Array(originIds.length).fill(false);
  const version = new Map<number, number>();
  const groups = groupByPartition(store, sourceId, originIds, (originId) => originId);
  await survivingIn(store, groups, async () => {
    const calls = groups.map(async ([partition, positions]) => {
      const tag = store.partitions.tag(partition);
      const [sequence, found] = await remove.run(
        store.client,
        [
          keys.clock(tag),
          keys.stream(tag),
          keys.meta(tag, tenant, sourceId),
          keys.entities(tag, tenant, sourceId),
          keys.removal(tag, token),
        ],
        [tenant, sourceId, ...positions.map((position) => originIds[position] ?? '')],
      );
      version.set(partition, sequence);
      positions.forEach((position, index) => {
        removed[position] = found[index] === 1;
      });
    });
    await Promise.all(calls);
  });
  return { removed, version };
}

/** Calls to partitions, until no failover can take back what they did. */
async function survivingIn(
  store: Store,
  groups: readonly (readonly [partition: number, positions: number[]])[],
  call: () => Promise<void>,
): Promise<void> {
  const tags = groups.map(([partition]) => store.partitions.tag(partition));
  await surviving(store.acknowledgements, tags, call);
}

/** Positions of the things in their list, by the partition of their entity. */
function groupByPartition<T>(
  store: Store,
  sourceId: string,
  things: readonly T[],
  originIdOf: (thing: T) => string,
): [number, number[]][] {
  const groups = new Map<number, number[]>();
  things.forEach((thing, position) => {
    const partition = store.partitions.ofEntity(sourceId, originIdOf(thing));
    const group = groups.get(partition);
    if (group === undefined) groups.set(partition, [position]);
    else group.push(position);
  });
  return [...groups];
}
