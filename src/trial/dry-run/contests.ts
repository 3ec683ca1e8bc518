/** Which URLs and handles are served, and by which view: now, and after claims have moved. */

import type { Tenant } from '../../config/configuration.ts';
import type { Claim } from '../../store/claims/claim-records.ts';
import { readClaimFields } from '../../store/claims/claims.ts';
import { compareRanks } from '../../store/claims/competing-claims.ts';
import { countRoutes } from '../../store/claims/routes.ts';
import { readLayouts } from '../../store/configuration/layouts.ts';
import { scanFields } from '../../store/derived/keyspace.ts';
import { claimKey } from '../../store/derived/processed-record.ts';
import type { ContestMoves } from '../../store/dry-runs/dry-run.ts';
import { isUrlField, keys } from '../../store/keys.ts';
import type { Store } from '../../store/store.ts';
import { servedClaims } from '../../verify/route-check.ts';
import { type ChangeCounts, type ConfigurationDiff, plus } from './diff.ts';

/** Counts the URLs and handles whose serving changes. @throws StoreUnavailableError */
export async function contestChanges(
  store: Store,
  contests: readonly ContestMoves[],
  diff: ConfigurationDiff,
): Promise<ConfigurationDiff> {
  let { routes, handles } = diff;
  const outcomes = await Promise.all(contests.map((contest) => applyMoves(store, contest)));
  for (const [at, { before, after }] of outcomes.entries()) {
    const isHandle = !isUrlField(contests[at]?.contest.name ?? '');
    if (isHandle) handles = countChanges(handles, before, after);
    else routes = countChanges(routes, before, after);
  }
  return { ...diff, routes, handles };
}

/** URL or handle -> what is served there. */
type Served = ReadonlyMap<string, string>;

/** What is served before and after the moves. */
async function applyMoves(
  store: Store,
  { contest, moves }: ContestMoves,
): Promise<{ readonly before: Served; readonly after: Served }> {
  const fields = [...new Set(moves.map(({ field }) => field))];
  const stored = await readClaimFields(store, contest, fields);
  const after = fields.map((field, at) => {
    const claims = new Map((stored[at] ?? []).map((claim) => [keyOf(field, claim), claim]));
    for (const move of moves) {
      if (move.field !== field) continue;
      if (move.action === 'drop') claims.delete(keyOf(field, move.claim));
      else claims.set(keyOf(field, move.claim), move.claim);
    }
    return [...claims.values()];
  });
  return { before: servedOf(stored), after: servedOf(after) };
}

/** Identifies a claim on a field. */
function keyOf(field: string, { kind, host, view }: Claim): string {
  return JSON.stringify([claimKey({ kind, host, field }), view.sourceId, view.alias, view.originId]);
}

/** @param lists the claims of each field */
function servedOf(lists: readonly (readonly Claim[])[]): Served {
  const served = new Map<string, string>();
  for (const claims of lists) {
    for (const { display, kind, redirect, view } of servedClaims([...claims].sort(compareRanks))) {
      served.set(display, JSON.stringify([kind, redirect, view.sourceId, view.alias, view.originId]));
    }
  }
  return served;
}

function countChanges(counts: ChangeCounts, before: Served, after: Served): ChangeCounts {
  let next = counts;
  for (const [name, what] of before) {
    const now = after.get(name);
    if (now === undefined) next = plus(next, 'removed');
    else if (now !== what) next = plus(next, 'changed');
  }
  for (const name of after.keys()) if (!before.has(name)) next = plus(next, 'added');
  return next;
}

interface ServedNow {
  readonly routes: number;
  readonly handles: number;
}

/**
 * @param handleClaims number of claims on handles of all views
 * @throws StoreUnavailableError
 */
export async function servedNow(
  store: Store,
  tenants: readonly Tenant[],
  handleClaims: number,
): Promise<ServedNow> {
  const layouts = await readLayouts(store);
  let [routes, handles] = [0, handleClaims];
  for (const { alias: tenant, environments } of tenants) {
    const urlForms = layouts.urlFormsOf(tenant).read;
    for (const { id: environmentId } of environments) {
      routes += await countRoutes(store, { tenant, environmentId, urlForms });
      handles -= await competingHandleClaims(store, tenant, environmentId);
    }
  }
  return { routes, handles };
}

/** Claims on handles beyond the first of each handle. */
async function competingHandleClaims(store: Store, tenant: string, environmentId: string): Promise<number> {
  // A scan may return a field twice.
  const counts = new Map<string, number>();
  for (const tag of store.partitions.tags) {
    for await (const portion of scanFields(store, keys.clashes(tag, tenant, environmentId))) {
      for (const { field, value } of portion) {
        if (!isUrlField(field)) counts.set(field, Number(value));
      }
    }
  }
  return [...counts.values()].reduce((sum, count) => sum + count - 1, 0);
}

/** Adds the numbers of unchanged URLs and handles. */
export function withSame(diff: ConfigurationDiff, served: ServedNow): ConfigurationDiff {
  const same = (counts: ChangeCounts, now: number) => ({
    ...counts,
    same: now - counts.changed - counts.removed,
  });
  return { ...diff, routes: same(diff.routes, served.routes), handles: same(diff.handles, served.handles) };
}
