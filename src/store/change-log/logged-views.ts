/**
 * Names of environments and views in the change log (docs/design/changes.md "The log"): each source and schema of a partition
 * has a short number, which is also used to count their views.
 */
import type { EntityRef } from '../../contract/ids.ts';
import { longId, shortId } from '../codec/short-id.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { EnvironmentScope } from '../scopes.ts';
import type { Store } from '../store.ts';

/** Field of `keys.logs`. */
export function logField({ tenant, environmentId }: EnvironmentScope): string {
  return `${tenant}|${environmentId}`;
}

/** The environment of a field of `keys.logs`. */
export function scopeOfLogField(field: string): EnvironmentScope {
  const bar = field.indexOf('|');
  return { tenant: field.slice(0, bar), environmentId: field.slice(bar + 1) };
}

/** Field of `keys.logNames`; scripts build it from a packed claim. */
export function logName(sourceId: string, alias: string): string {
  return `${shortId(sourceId)}:${alias}`;
}

/** A view of the change log. */
export interface LoggedView extends EntityRef {
  readonly alias: string;
}

/** True if both are the same view of the environment. */
export function isSameView(a: LoggedView, b: LoggedView): boolean {
  return a.originId === b.originId && a.alias === b.alias && a.sourceId === b.sourceId;
}

/**
 * @param names `logName` by number
 * @returns null if the number is unknown
 */
export function loggedView(member: string, names: ReadonlyMap<number, string>): LoggedView | null {
  const colon = member.indexOf(':');
  const name = names.get(Number(member.slice(0, colon)));
  if (name === undefined) return null;
  const end = name.lastIndexOf(':');
  return {
    sourceId: longId(name.slice(0, end)),
    alias: name.slice(end + 1),
    originId: member.slice(colon + 1),
  };
}

/** Members of views in `keys.log`, `keys.traces` and `keys.removed`, in the order given. @throws StoreUnavailableError */
export async function readLogMembers(
  store: Store,
  tag: string,
  scope: EnvironmentScope,
  views: readonly LoggedView[],
): Promise<string[]> {
  const names = await readLogNames(store, tag, scope);
  const numbers = new Map([...names].map(([number, name]) => [name, number]));
  // No view has a number below 0.
  return views.map(
    ({ sourceId, alias, originId }) => `${numbers.get(logName(sourceId, alias)) ?? -1}:${originId}`,
  );
}

/** `logName` by number. @throws StoreUnavailableError */
export async function readLogNames(
  store: Store,
  tag: string,
  { tenant, environmentId }: EnvironmentScope,
): Promise<ReadonlyMap<number, string>> {
  const numbers = await answerOf(store.client.hgetall(keys.logNames(tag, tenant, environmentId)));
  return new Map(Object.entries(numbers).map(([name, number]) => [Number(number), name]));
}

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
