/** Compares what an entity stands under in the lookup indexes, and whom a change would rebuild, with what should be. */
import type { Build } from '../actors/batch/build.ts';
import { thingKey } from '../actors/batch/made-key.ts';
import { standingsOf } from '../actors/batch/publish.ts';
import { formatEntityId } from '../contract/ids.ts';
import { project } from '../schemas/lookup/layout.ts';
import { lookupPlace } from '../store/derived/lookups.ts';
import type { LookupStanding } from '../store/derived/processed.ts';
import { type Finding, finding, thingSubject } from './finding.ts';
import type { Place, TurnState } from './turn-state.ts';

/** Where the entity should stand, with which values. */
export function expectedEntries({
  store,
  turn,
}: TurnState): (Place & { readonly lookupKey: string; readonly projection: string })[] {
  const { tenantAlias: tenant, sourceId, originId, entity, layouts } = turn;
  return standingsOf(turn).flatMap(({ layoutId, keys }) => {
    const layout = layouts.find(({ id }) => id === layoutId);
    if (layout === undefined || entity === null) return [];
    const projection = JSON.stringify(project(layout, entity));
    return keys.map((lookupKey) => ({
      lookupKey,
      projection,
      key: lookupPlace(store, { tenant, sourceId, lookupKey }).entries(layoutId),
      field: originId,
    }));
  });
}

export function checkEntries(state: TurnState, entries: ReturnType<typeof expectedEntries>): Finding[] {
  const { turn } = state;
  const subject = formatEntityId(turn);
  const expected = standingsText(standingsOf(turn));
  const remembered = standingsText(turn.former?.lookups ?? []);
  const findings =
    turn.former === null || remembered === expected
      ? []
      : [finding(subject, 'remembers other lookup keys than it stands under', remembered, expected)];
  for (const { projection, ...entry } of entries) {
    const stored = state.read(entry);
    if (stored?.toString() === projection) continue;
    const message = stored === null ? 'is missing under' : 'has other values under';
    findings.push(
      finding(subject, `${message} the lookup key ${JSON.stringify(entry.lookupKey)}`, stored, projection),
    );
  }
  return findings;
}

function standingsText(standings: readonly LookupStanding[]): string {
  return JSON.stringify(standings.map(({ layoutId, keys }) => [layoutId, [...keys].sort()]).sort());
}

export function wantDependents({ store, stored, turn }: TurnState, build: Build): void {
  for (const [sourceId, lookupKey] of build.dependsOn) {
    const { dependents } = lookupPlace(store, { tenant: turn.tenantAlias, sourceId, lookupKey });
    stored.wantMember(dependents, build.member);
  }
}

export function checkDependents({ store, stored, turn, former }: TurnState, build: Build): Finding[] {
  const subject = thingSubject(turn, build.maker);
  const thing = former.get(thingKey(build.maker));
  const remembered = JSON.stringify([...(thing?.dependsOn ?? [])].sort());
  const expected = JSON.stringify([...build.dependsOn].sort());
  const findings =
    thing === undefined || remembered === expected
      ? []
      : [finding(subject, 'remembers other lookup keys than it reads', remembered, expected)];
  for (const [sourceId, lookupKey] of build.dependsOn) {
    const { dependents } = lookupPlace(store, { tenant: turn.tenantAlias, sourceId, lookupKey });
    if (stored.hasMember(dependents, build.member)) continue;
    const shown = JSON.stringify(lookupKey);
    findings.push(finding(subject, `would not be rebuilt after a change under the lookup key ${shown}`));
  }
  return findings;
}
