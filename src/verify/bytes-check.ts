/** Compares the stored bytes of views and index items with freshly built ones. */

import type { AutoTypes } from '../actors/batch/auto-types.ts';
import { storedOutput } from '../actors/batch/build-turns.ts';
import { isFormerDigest, outputKey } from '../actors/batch/builder.ts';
import type { Output } from '../actors/batch/output.ts';
import { formatEntityId } from '../contract/ids.ts';
import { runSync } from '../lib/cooperative-yield.ts';
import type { BuildFailure } from '../schemas/build/build-outcome.ts';
import { isDigestOf } from '../store/codec/digest.ts';
import { storedFields } from '../store/derived/stored-body.ts';
import { type Finding, finding, outputSubject, whereTheyDiffer } from './finding.ts';
import type { TurnState } from './turn-state.ts';

export function checkBytes(state: TurnState, output: Output, autoTypes: AutoTypes): Finding[] {
  if (output.failure !== null) return checkFailed(state, output, output.failure);
  const expected = runSync(storedOutput(output, autoTypes)).bytes;
  const subject = outputSubject(state.turn, output.builder);
  const former = state.former.get(outputKey(output.builder));
  const { key, field } = state.fieldOf(output.builder);
  const { kind, schemaDigest } = output.builder;
  const fields = kind === 'view' ? storedFields(field, expected) : [[field, expected] as const];
  for (const [name, bytes] of fields) {
    const stored = name === field ? state.readOutput(output.builder) : state.read({ key, field: name });
    if (stored === null) return [finding(subject, 'is missing', null, bytes)];
    if (!stored.equals(bytes)) {
      return [finding(subject, `differs: ${whereTheyDiffer(stored, bytes)}`, stored, bytes)];
    }
  }
  if (former === undefined) return [finding(subject, 'is stored, but its entity does not record it')];
  if (!isDigestOf(former.bytesDigest, expected)) {
    return [finding(subject, 'is correct, but its entity records another digest', former.bytesDigest)];
  }
  if (former.schemaDigest === schemaDigest || isFormerDigest(former.schemaDigest)) return [];
  return [finding(subject, 'was built by another version of its schema', former.schemaDigest, schemaDigest)];
}

/** For a failing build: the last output stays unchanged, and the record has the reason. */
function checkFailed(state: TurnState, { builder }: Output, { message }: BuildFailure): Finding[] {
  const former = state.former.get(outputKey(builder));
  if (former?.failure !== undefined) return [];
  const subject = outputSubject(state.turn, builder);
  return [finding(subject, `cannot be built, but its entity does not record it: ${message}`, null, message)];
}

/** Finds recorded outputs that no schema builds anymore. */
export function checkNotMade({ turn, former }: TurnState, outputs: readonly Output[]): Finding[] {
  if (turn.former === null) return [];
  const built = new Set(outputs.map(({ builder }) => outputKey(builder)));
  const left = [...former]
    .filter(([key]) => !built.has(key))
    .map(([, output]) => outputSubject(turn, output));
  // A deleted and recreated entity has another state.
  const state = String(turn.former.stamp);
  if (turn.entity !== null) {
    return left.map((subject) => finding(subject, 'no schema builds it, but it is still stored', state));
  }
  const subjects = left.length > 0 ? left : [formatEntityId(turn)];
  return subjects.map((subject) =>
    finding(subject, 'its entity was deleted, but this is still stored', state),
  );
}
