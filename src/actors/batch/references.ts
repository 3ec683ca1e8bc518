/** The views that a view refers to, as its processed record keeps them. */
import type { ReferencePiece } from '../../schemas/build/view-body.ts';
import type { ProcessedOutput } from '../../store/derived/processed-record.ts';
import { referenceText } from '../../store/derived/references.ts';
import type { OutputName } from './builder.ts';
import type { BatchChanges } from './changes.ts';
import type { Output } from './output.ts';
import type { Turn } from './turn.ts';

const none: readonly string[] = [];
const noReferences: Pick<ProcessedOutput, 'references'> = {};

/** Notes what differs from the record. @returns what the record keeps */
export function compareReferences(
  changes: BatchChanges,
  { turn, builder, result }: Output,
  former: ProcessedOutput | null,
): Pick<ProcessedOutput, 'references'> {
  if (result.kind !== 'view') return noReferences;
  const before = former?.references ?? none;
  const pieces = result.view.body.references;
  if (pieces.length === 0 && before.length === 0) return noReferences;
  const now = referencesOf(turn, builder, pieces);
  // After a batch without a commit, and in a repair, the record does not tell what is there.
  const known = new Set(turn.repair === null ? before : none);
  const kept = new Set(now);
  const added = now.filter((text) => !known.has(text));
  const gone = before.filter((text) => !kept.has(text));
  changes.moveReferences('add', turn, builder, added);
  changes.moveReferences('drop', turn, builder, gone);
  return now.length === 0 ? noReferences : { references: now };
}

/** Each once, in the order of their first places. References into other environments are never followed. */
export function referencesOf(
  turn: Pick<Turn, 'sourceId'>,
  { environmentId }: Pick<OutputName, 'environmentId'>,
  pieces: readonly ReferencePiece[],
): readonly string[] {
  const texts = pieces.flatMap(({ target }) =>
    target === null || target.environmentId !== environmentId ? [] : [referenceText(turn, target)],
  );
  return texts.length < 2 ? texts : [...new Set(texts)];
}
