/** How many views each schema has, counted in the call that stores them. */
import type { EnvironmentScope } from '../environment-scope.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';

/** Schema alias -> number of its views in the environment. @throws StoreUnavailableError */
export async function countViews(
  store: Store,
  { tenant, environmentId }: EnvironmentScope,
): Promise<ReadonlyMap<string, number>> {
  const stored = await answerOf(
    Promise.all(
      store.partitions.tags.map((tag) => store.client.hgetall(keys.viewCounts(tag, tenant, environmentId))),
    ),
  );
  const counts = new Map<string, number>();
  for (const [name, count] of stored.flatMap((fields) => Object.entries(fields))) {
    const alias = name.slice(name.lastIndexOf(':') + 1);
    counts.set(alias, (counts.get(alias) ?? 0) + Number(count));
  }
  return counts;
}
