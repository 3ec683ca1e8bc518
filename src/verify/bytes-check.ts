/** Compares the bytes of views and index items with those that are made now. */
import type { Build } from '../actors/batch/build.ts';
import { type AutoTypes, storedItem } from '../actors/batch/items.ts';
import { thingKey } from '../actors/batch/made-key.ts';
import { formatEntityId } from '../contract/ids.ts';
import { digestOf } from '../store/codec/digest.ts';
import { encodeItem } from '../store/derived/items.ts';
import { encodeBody, storedFields } from '../store/derived/views.ts';
import { type Finding, finding, thingSubject, whereTheyDiffer } from './finding.ts';
import type { TurnState } from './turn-state.ts';

export function checkBytes(state: TurnState, build: Build, autoTypes: AutoTypes): Finding[] {
  const expected = expectedBytes(build, autoTypes);
  const subject = thingSubject(state.turn, build.maker);
  const former = state.former.get(thingKey(build.maker));
  const { key, field } = state.placeOf(build.maker);
  const { kind, schemaDigest } = build.maker;
  const fields = kind === 'view' ? storedFields(field, expected) : [[field, expected] as const];
  for (const [name, bytes] of fields) {
    const stored = state.read({ key, field: name });
    if (stored === null) return [finding(subject, 'is missing', null, bytes)];
    if (!stored.equals(bytes)) {
      return [finding(subject, `differs: ${whereTheyDiffer(stored, bytes)}`, stored, bytes)];
    }
  }
  if (former === undefined) return [finding(subject, 'is there, but its entity does not know of it')];
  if (!former.bytesDigest.equals(digestOf(expected))) {
    return [finding(subject, 'is right, but its entity remembers other bytes', former.bytesDigest)];
  }
  if (former.schemaDigest === schemaDigest) return [];
  return [finding(subject, 'was made by another version of its schema', former.schemaDigest, schemaDigest)];
}

function expectedBytes(build: Build, autoTypes: AutoTypes): Buffer {
  if (build.built.kind === 'view') return encodeBody(build.built.view.body);
  const stored = storedItem(build, autoTypes);
  if (stored === null) throw new TypeError('not an item');
  return encodeItem(stored.item);
}

/** What the record says was made, but is not made now. */
export function checkNotMade({ turn, former }: TurnState, builds: readonly Build[]): Finding[] {
  const made = new Set(builds.map(({ maker }) => thingKey(maker)));
  const left = [...former].filter(([key]) => !made.has(key)).map(([, thing]) => thingSubject(turn, thing));
  if (turn.entity !== null) {
    return left.map((subject) => finding(subject, 'no schema makes it any more, but it is still there'));
  }
  if (turn.former === null) return [];
  const subjects = left.length > 0 ? left : [formatEntityId(turn)];
  return subjects.map((subject) =>
    finding(subject, 'its entity is gone, but what was made of it is still there'),
  );
}
