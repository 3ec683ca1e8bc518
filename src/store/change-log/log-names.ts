/** The short numbers under which a partition's change log names sources and schemas. */
import type { EnvironmentScope } from '../environment-scope.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';

/** `logName` by number. @throws StoreUnavailableError */
export async function readLogNames(
  store: Store,
  tag: string,
  { tenant, environmentId }: EnvironmentScope,
): Promise<ReadonlyMap<number, string>> {
  const numbers = await answerOf(store.client.hgetall(keys.logNames(tag, tenant, environmentId)));
  return new Map(Object.entries(numbers).map(([name, number]) => [Number(number), name]));
}
