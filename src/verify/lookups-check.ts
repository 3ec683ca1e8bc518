/** Checks the lookup entries of an entity, and the registrations of its outputs as dependents. */

import { outputKey } from '../actors/batch/builder.ts';
import type { Output } from '../actors/batch/output.ts';
import { formatEntityId } from '../contract/ids.ts';
import { project } from '../schemas/lookup-layout.ts';
import { redisKeysOf } from '../store/derived/lookups.ts';
import type { IndexEntries } from '../store/derived/processed-record.ts';
import type { HashField } from '../store/redis/field-reader.ts';
import { type Finding, finding, outputSubject } from './finding.ts';
import type { TurnState } from './turn-state.ts';

/** The entries that the entity should have, with their values. */
export function expectedEntries({
  store,
  turn,
}: TurnState): (HashField & { readonly lookupKey: string; readonly projection: string })[] {
  const { tenant, sourceId, originId, entity, layouts } = turn;
  return turn.indexEntries.flatMap(({ layoutId, keys }) => {
    const layout = layouts.find(({ id }) => id === layoutId);
    if (layout === undefined || entity === null) return [];
    const projection = JSON.stringify(project(layout, entity));
    return keys.map((lookupKey) => ({
      lookupKey,
      projection,
      key: redisKeysOf(store, { tenant, sourceId, lookupKey }).entries(layoutId),
      field: originId,
    }));
  });
}

export function checkEntries(state: TurnState, entries: ReturnType<typeof expectedEntries>): Finding[] {
  const { turn } = state;
  const subject = formatEntityId(turn);
  const expected = indexEntriesText(turn.indexEntries);
  const remembered = indexEntriesText(turn.former?.lookups ?? []);
  const findings =
    turn.former === null || remembered === expected
      ? []
      : [finding(subject, 'has other lookup keys in its record than in the index', remembered, expected)];
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

function indexEntriesText(indexEntries: readonly IndexEntries[]): string {
  return JSON.stringify(indexEntries.map(({ layoutId, keys }) => [layoutId, [...keys].sort()]).sort());
}

export function requestDependents({ store, stored, turn }: TurnState, output: Output): void {
  for (const [sourceId, lookupKey] of output.dependsOn) {
    const { dependents } = redisKeysOf(store, { tenant: turn.tenant, sourceId, lookupKey });
    stored.requestField(dependents, output.dependent);
  }
}

export function checkDependents({ store, stored, turn, former }: TurnState, output: Output): Finding[] {
  const subject = outputSubject(turn, output.builder);
  const recorded = former.get(outputKey(output.builder));
  const remembered = JSON.stringify([...(recorded?.dependsOn ?? [])].sort());
  const expected = JSON.stringify([...output.dependsOn].sort());
  const findings =
    recorded === undefined || remembered === expected
      ? []
      : [finding(subject, 'has other lookup keys in its record than it reads', remembered, expected)];
  for (const [sourceId, lookupKey] of output.dependsOn) {
    const { dependents } = redisKeysOf(store, { tenant: turn.tenant, sourceId, lookupKey });
    if (stored.field(dependents, output.dependent) !== null) continue;
    const shown = JSON.stringify(lookupKey);
    findings.push(finding(subject, `would not be rebuilt after a change under the lookup key ${shown}`));
  }
  return findings;
}
