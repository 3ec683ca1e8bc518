/** Collects the views that a commit reports, and the last states of removed views, which are kept for the retention. */
import { pack, unpack } from '../codec/pack.ts';
import {
  type Destination,
  type FormerClaim,
  type PackedFormerClaim,
  packFormerClaim,
  unpackFormerClaim,
} from '../derived/processed-record.ts';
import { keys } from '../keys.ts';
import type { LuaValue } from '../redis/lua-list.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { EnvironmentScope } from '../scopes.ts';
import type { Store } from '../store.ts';
import { type LoggedView, logField, logName, readLogMembers } from './logged-views.ts';

/** The last state of a removed view. */
export interface RemovedView {
  /** Type of its entity when the view was last reported. */
  readonly type: string;
  /** '' if its source was no longer configured. */
  readonly sourceGroup: string;
  /** Its last and former claims; `keys.left` has those that were served. */
  readonly claims: readonly FormerClaim[];
  /** Webhooks that its schema selected; absent: none. */
  readonly destinations?: readonly Destination[];
}

interface Group {
  readonly scope: EnvironmentScope;
  readonly name: string;
  readonly changed: string[];
  readonly there: string[];
  readonly removed: Map<string, RemovedView>;
}

export class ReportedViews {
  readonly #groups = new Map<string, Group>();

  /** Reports a view with new bytes, or for another reason. */
  changed(scope: EnvironmentScope, view: LoggedView): void {
    this.#groupOf(scope, view).changed.push(view.originId);
  }

  /** Reports an unchanged view, which only gets an entry if the log has none. */
  there(scope: EnvironmentScope, view: LoggedView): void {
    this.#groupOf(scope, view).there.push(view.originId);
  }

  removed(scope: EnvironmentScope, view: LoggedView, was: RemovedView): void {
    this.#groupOf(scope, view).removed.set(view.originId, was);
  }

  /** Environments whose views are removed. */
  get shrinking(): EnvironmentScope[] {
    return [...this.#groups.values()].filter(({ removed }) => removed.size > 0).map(({ scope }) => scope);
  }

  /** Packed for `scripts/parts/change-log.lua`. @param tag of the committing partition */
  forLua(tag: string): LuaValue {
    return [...this.#groups.values()].map((group) => groupForLua(tag, group));
  }

  #groupOf(scope: EnvironmentScope, { sourceId, alias }: LoggedView): Group {
    const name = logName(sourceId, alias);
    const key = `${logField(scope)}|${name}`;
    const group = this.#groups.get(key) ?? { scope, name, changed: [], there: [], removed: new Map() };
    this.#groups.set(key, group);
    return group;
  }
}

function groupForLua(tag: string, { scope, name, changed, there, removed }: Group): LuaValue {
  return [
    tag,
    scope.tenant,
    scope.environmentId,
    name,
    changed,
    there,
    [...removed.keys()],
    [...removed.values()].map(encodeRemoved),
  ];
}

type PackedRemoved = [
  type: string,
  sourceGroup: string,
  claims: PackedFormerClaim[],
  destinations?: readonly Destination[],
];

function encodeRemoved({ type, sourceGroup, claims, destinations }: RemovedView): Buffer {
  const packed: PackedRemoved = [type, sourceGroup, claims.map(packFormerClaim)];
  if (destinations !== undefined) packed.push(destinations);
  return pack(packed);
}

/** @param stored value of `keys.removed` */
export function decodeRemoved(stored: Buffer): RemovedView {
  const [type, sourceGroup, claims, destinations] = unpack<PackedRemoved>(stored);
  return {
    type,
    sourceGroup,
    claims: claims.map(unpackFormerClaim),
    ...(destinations === undefined ? {} : { destinations }),
  };
}

/** In the requested order; null for a view that was not removed within the retention. @throws StoreUnavailableError */
export async function readRemovedViews(
  store: Store,
  tag: string,
  scope: EnvironmentScope,
  views: readonly LoggedView[],
): Promise<(RemovedView | null)[]> {
  const key = keys.removed(tag, scope.tenant, scope.environmentId);
  const members = await readLogMembers(store, tag, scope, views);
  const stored = await answerOf(store.client.hmgetBuffer(key, ...members));
  return stored.map((removed) => removed && decodeRemoved(removed));
}

/**
 * The removed views of a partition, for its owner. New views ask for them, and most of these come into an environment that has
 * removed none. Its own commits alone remove views, so the owner asks Redis once.
 */
export class RemovedViews {
  /** Tenant -> environments that have none. */
  readonly #without = new Map<string, Set<string>>();

  constructor(
    private readonly store: Store,
    private readonly tag: string,
  ) {}

  /** True for an environment that is known to have none. */
  hasNone({ tenant, environmentId }: EnvironmentScope): boolean {
    return this.#without.get(tenant)?.has(environmentId) === true;
  }

  /** As `readRemovedViews`. @throws StoreUnavailableError */
  async read(scope: EnvironmentScope, views: readonly LoggedView[]): Promise<(RemovedView | null)[]> {
    const { tenant, environmentId } = scope;
    const key = keys.removed(this.tag, tenant, environmentId);
    if ((await answerOf(this.store.client.exists(key))) > 0) {
      return await readRemovedViews(this.store, this.tag, scope, views);
    }
    const without = this.#without.get(tenant) ?? new Set();
    this.#without.set(tenant, without.add(environmentId));
    return views.map(() => null);
  }

  /** Must be called before a commit that removes views of the environment. */
  forget({ tenant, environmentId }: EnvironmentScope): void {
    this.#without.get(tenant)?.delete(environmentId);
  }
}
