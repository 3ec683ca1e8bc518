/** How much of the change log is after a position (docs/design/changes.md "Webhooks"). */
import type { EnvironmentScope } from '../environment-scope.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';

/** Entries, of which several may be of one view. @param sequences of all partitions. @throws StoreUnavailableError */
export async function countChangesAfter(
  store: Store,
  { tenant, environmentId }: EnvironmentScope,
  {
    sequences,
    copyFrom,
  }: { readonly sequences: readonly number[]; readonly copyFrom: readonly number[] | null },
): Promise<number> {
  const counts = await Promise.all(
    sequences.flatMap((sequence, partition) => {
      const tag = store.partitions.tag(partition);
      const tracesFrom = Math.max(sequence, copyFrom?.[partition] ?? 0);
      return [
        answerOf(store.client.zcount(keys.log(tag, tenant, environmentId), `(${sequence}`, '+inf')),
        answerOf(store.client.zcount(keys.traces(tag, tenant, environmentId), `(${tracesFrom}`, '+inf')),
      ];
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}
