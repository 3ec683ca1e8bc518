/**
 * The views that refer to a view. On a single Redis, a commit updates the referrers. In a cluster they are in other slots, so
 * referrers are added before the commit and removed after it. So none is missing, but after a crash there may be extra ones:
 * readers check the referrer's processed record.
 */
import { groupBy, portions } from '../../lib/lists.ts';
import { changeMembers, noValue, scanMembers } from '../derived/member-hash.ts';
import { keys, viewIdentity } from '../keys.ts';
import type { Caller } from '../ownership/lease.ts';
import type { LuaValue } from '../redis/lua-list.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { EnvironmentScope } from '../scopes.ts';
import type { Store } from '../store.ts';
import { type LoggedView, logField } from './logged-views.ts';

/** Above this, referrers are scanned a portion at a time instead of listed in one reply. */
const listedMax = 1000;

/** The name of a view in a reference: without the source if both views have the same source. */
export function referenceText({ sourceId }: Pick<LoggedView, 'sourceId'>, view: LoggedView): string {
  return viewIdentity(view.sourceId === sourceId ? { ...view, sourceId: '' } : view);
}

export function viewOfReference({ sourceId }: Pick<LoggedView, 'sourceId'>, text: string): LoggedView {
  const first = text.indexOf(':');
  const second = text.indexOf(':', first + 1);
  return {
    sourceId: first === 0 ? sourceId : text.slice(0, first),
    alias: text.slice(first + 1, second),
    originId: text.slice(second + 1),
  };
}

/** New and former referrers of a view. */
interface ReferrerChange {
  readonly scope: EnvironmentScope;
  readonly target: LoggedView;
  /** From `referenceText`. */
  readonly added: string[];
  readonly dropped: string[];
}

/** References that a batch adds and removes. */
export class ReferenceChanges {
  /** By environment and source of the referrer, then by target: the views of a batch refer to few views. */
  readonly #groups = new Map<string, Map<string, ReferrerChange>>();
  /** Number of references. */
  count = 0;

  /** @param text `referenceText` of the view that it refers to */
  add(scope: EnvironmentScope, referrer: LoggedView, text: string): void {
    const { added, target } = this.#changeOf(scope, referrer, text);
    added.push(referenceText(target, referrer));
  }

  drop(scope: EnvironmentScope, referrer: LoggedView, text: string): void {
    const { dropped, target } = this.#changeOf(scope, referrer, text);
    dropped.push(referenceText(target, referrer));
  }

  #changeOf(scope: EnvironmentScope, referrer: LoggedView, text: string): ReferrerChange {
    this.count += 1;
    const key = `${logField(scope)}|${referrer.sourceId}`;
    const group = this.#groups.get(key) ?? new Map<string, ReferrerChange>();
    this.#groups.set(key, group);
    const known = group.get(text);
    if (known !== undefined) return known;
    const change = { scope, target: viewOfReference(referrer, text), added: [], dropped: [] };
    group.set(text, change);
    return change;
  }

  get changes(): ReferrerChange[] {
    return [...this.#groups.values()].flatMap((group) => [...group.values()]);
  }

  /** Writes before the commit in a cluster. */
  get additions(): ReferrerWrite[] {
    return this.#writes(({ added }) => added, 'add');
  }

  /** Writes after the commit in a cluster. */
  get removals(): ReferrerWrite[] {
    return this.#writes(({ dropped }) => dropped, 'drop');
  }

  #writes(
    pick: (change: ReferrerChange) => readonly string[],
    action: ReferrerWrite['action'],
  ): ReferrerWrite[] {
    return this.changes.flatMap((change) => {
      const { scope, target } = change;
      return pick(change).map((member) => ({ action, scope, target, member }));
    });
  }
}

export interface ReferrerWrite {
  readonly action: 'add' | 'drop';
  readonly scope: EnvironmentScope;
  readonly target: LoggedView;
  /** The referrer, from `referenceText`. */
  readonly member: string;
}

/** References that commits write on a single Redis, packed for `scripts/partitions/commit.lua`. */
export function referencesForLua(store: Store, ofCommits: readonly ReferenceChanges[]): LuaValue[] {
  const hashes = new Map<string, { readonly adds: string[]; readonly removes: string[] }>();
  for (const { scope, target, added, dropped } of ofCommits.flatMap(({ changes }) => changes)) {
    const key = referrersKey(store, scope, target);
    const known = hashes.get(key);
    const { adds, removes } = known ?? { adds: [], removes: [] };
    if (known === undefined) hashes.set(key, { adds, removes });
    for (const member of added) adds.push(member, noValue);
    removes.push(...dropped);
  }
  return [...hashes].map(([key, { adds, removes }]) => [key, adds, removes, 'foreign']);
}

/** The key of a view's referrers. */
export function referrersKey(
  store: Store,
  { tenant, environmentId }: EnvironmentScope,
  target: LoggedView,
): string {
  const tag = store.partitions.tag(store.partitions.ofEntity(target.sourceId, target.originId));
  return keys.referrers(tag, tenant, environmentId, viewIdentity(target));
}

/** Idempotent. @throws FencedError, StoreUnavailableError */
export async function writeReferences(
  store: Store,
  caller: Caller,
  writes: readonly ReferrerWrite[],
): Promise<void> {
  if (writes.length === 0) return;
  const groups = groupBy(writes, ({ target }) => store.partitions.ofEntity(target.sourceId, target.originId));
  await Promise.all(
    [...groups].map(([partition, group]) => {
      const changes = group.map(({ action, scope, target, member }) => ({
        action,
        key: referrersKey(store, scope, target),
        member,
      }));
      return changeMembers(store, caller, partition, changes);
    }),
  );
}

/** The recorded referrers of a view, in portions. @throws StoreUnavailableError */
export async function* readReferrers(
  store: Store,
  scope: EnvironmentScope,
  target: LoggedView,
): AsyncGenerator<LoggedView[]> {
  const key = referrersKey(store, scope, target);
  const viewsOf = (members: readonly string[]) => members.map((member) => viewOfReference(target, member));
  if ((await answerOf(store.client.hlen(key))) <= listedMax) {
    yield viewsOf(await answerOf(store.client.hkeys(key)));
    return;
  }
  for await (const members of scanMembers(store, key)) yield viewsOf(members);
}

/** A recorded reference. */
export interface Reference {
  readonly referrer: LoggedView;
  readonly target: LoggedView;
}

/** Number of views per round trip. */
const targetsPerRead = 500;

/** References to any of these views, in portions. Most views have few or none. @throws StoreUnavailableError */
export async function* readReferences(
  store: Store,
  scope: EnvironmentScope,
  targets: readonly LoggedView[],
): AsyncGenerator<Reference[]> {
  for (const group of portions(targets, targetsPerRead)) {
    const listed: LoggedView[] = [];
    let count = 0;
    for (const [target, referrers] of await countReferrers(store, scope, group)) {
      if (referrers > listedMax) {
        for await (const found of readReferrers(store, scope, target)) {
          yield found.map((referrer) => ({ referrer, target }));
        }
        continue;
      }
      if (count + referrers > listedMax) {
        yield await listReferences(store, scope, listed.splice(0));
        count = 0;
      }
      listed.push(target);
      count += referrers;
    }
    yield await listReferences(store, scope, listed);
  }
}

/** Number of referrers of the views that have any. */
async function countReferrers(
  store: Store,
  scope: EnvironmentScope,
  targets: readonly LoggedView[],
): Promise<(readonly [target: LoggedView, referrers: number])[]> {
  const counts = await answerOf(
    Promise.all(targets.map((target) => store.client.hlen(referrersKey(store, scope, target)))),
  );
  return targets.map((target, at) => [target, counts[at] ?? 0] as const).filter(([, count]) => count > 0);
}

async function listReferences(
  store: Store,
  scope: EnvironmentScope,
  targets: readonly LoggedView[],
): Promise<Reference[]> {
  const lists = await answerOf(
    Promise.all(targets.map((target) => store.client.hkeys(referrersKey(store, scope, target)))),
  );
  return targets.flatMap((target, at) =>
    (lists[at] ?? []).map((member) => ({ referrer: viewOfReference(target, member), target })),
  );
}
