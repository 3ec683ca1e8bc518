/** The effects of moved claims on which URLs and handles are served, and by which view. */

import type { Claim } from '../../store/claims/claim-records.ts';
import { readClaimFields } from '../../store/claims/claims.ts';
import { compareRanks } from '../../store/claims/competing-claims.ts';
import { claimKey } from '../../store/derived/processed-record.ts';
import type { ContestMoves } from '../../store/dry-runs/dry-run.ts';
import { isUrlField } from '../../store/keys.ts';
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
