/** The views that a view refers to, for its processed record. */
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { ReferencePiece } from '../../schemas/build/build-outcome.ts';
import { referenceText } from '../../store/change-log/references.ts';
import type { ProcessedOutput } from '../../store/derived/processed-record.ts';
import type { BatchChanges } from './batch-changes.ts';
import type { OutputName } from './builder.ts';
import type { Output } from './output.ts';
import type { Turn } from './turn.ts';

/** The approximate cost of comparing a reference, in units of the work budget. */
const unitsPerReference = 200;

const none: readonly string[] = [];
const noReferences: Pick<ProcessedOutput, 'references'> = {};

/** Collects the differences from the record. @returns the references for the record */
export function* compareReferences(
  changes: BatchChanges,
  { turn, builder, result }: Output,
  former: ProcessedOutput | null,
): Steps<Pick<ProcessedOutput, 'references'>> {
  if (result.kind !== 'view') return noReferences;
  const before = former?.references ?? none;
  const pieces = result.view.body.references;
  if (pieces.length === 0 && before.length === 0) return noReferences;
  const kept = yield* referencesOf(turn, builder, pieces);
  // After a batch without a commit, and in a repair, stored references may differ from the record.
  const known = new Set(turn.repair === null ? before : none);
  for (const text of kept) {
    if (!known.has(text)) changes.moveReference('add', turn, builder, text);
    if (isTimeOver()) yield;
  }
  for (const text of before) {
    if (!kept.has(text)) changes.moveReference('drop', turn, builder, text);
    if (isTimeOver()) yield;
  }
  return kept.size === 0 ? noReferences : { references: [...kept] };
}

/** Unique references in the order of their first occurrence. References into other environments are never followed. */
export function* referencesOf(
  turn: Pick<Turn, 'sourceId'>,
  { environmentId }: Pick<OutputName, 'environmentId'>,
  pieces: readonly ReferencePiece[],
): Steps<ReadonlySet<string>> {
  const texts = new Set<string>();
  for (const { target } of pieces) {
    if (target !== null && target.environmentId === environmentId) texts.add(referenceText(turn, target));
    if (isTimeOver()) yield;
  }
  return texts;
}

function isTimeOver(): boolean {
  workBudget.units += unitsPerReference;
  return workBudget.isOver();
}
