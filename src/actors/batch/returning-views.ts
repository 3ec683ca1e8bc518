/** Views that were removed and are made again: what they claimed before is still part of their history. */
import { groupBy } from '../../lib/lists.ts';
import { readRemovedViews } from '../../store/change-log/reported-views.ts';
import type { FormerClaim } from '../../store/derived/processed-record.ts';
import type { Store } from '../../store/store.ts';
import { outputKey } from './builder.ts';
import type { Output } from './output.ts';

/** Claims from before the removal, of the outputs that bring a view back. */
export type ReturningViews = ReadonlyMap<Output, readonly FormerClaim[]>;

/** @param tag of the partition of all outputs. @throws StoreUnavailableError */
export async function readReturningViews(
  store: Store,
  tag: string,
  outputs: readonly Output[],
): Promise<ReturningViews> {
  const returning = new Map<Output, readonly FormerClaim[]>();
  const environments = groupBy(
    outputs.filter(makesNewView),
    ({ turn, builder }) => `${turn.tenantAlias}|${builder.environmentId}`,
  );
  await Promise.all(
    [...environments.values()].map(async (group) => {
      const [first] = group;
      if (first === undefined) return;
      const scope = { tenant: first.turn.tenantAlias, environmentId: first.builder.environmentId };
      const views = group.map(({ turn: { sourceId, originId }, builder }) => ({
        sourceId,
        originId,
        alias: builder.name,
      }));
      const removed = await readRemovedViews(store, tag, scope, views);
      group.forEach((output, at) => {
        const was = removed[at];
        if (was !== null && was !== undefined) returning.set(output, was.claims);
      });
    }),
  );
  return returning;
}

function makesNewView({ turn, builder, failure, isDeferred }: Output): boolean {
  if (builder.kind !== 'view' || turn.entity === null || failure !== null || isDeferred) return false;
  const former = turn.former?.outputs.find((output) => outputKey(output) === builder.key);
  // A record without bytes is of a view that was never made, or that a restore has yet to make.
  return former === undefined || former.bytesDigest.length === 0;
}
