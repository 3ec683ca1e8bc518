/** An output as Redis has it: where it lies, and its bytes. Batches write it so, and verifications expect it so. */
import { encodeItem, type StoredItem } from '../../store/derived/items.ts';
import { encodeBody } from '../../store/derived/stored-body.ts';
import { itemField, keys, viewField } from '../../store/keys.ts';
import type { AutoTypes } from './auto-types.ts';
import type { OutputName } from './builder.ts';
import { itemOf, type Misfit, noMisfits } from './item.ts';
import type { Output } from './output.ts';
import type { Turn } from './turn.ts';

export interface StoredOutput {
  readonly bytes: Buffer;
  /** Null for a view. */
  readonly item: StoredItem | null;
  readonly misfits: readonly Misfit[];
}

/** @param output one that is built, and not deferred */
export function storedOutput(output: Output, autoTypes: AutoTypes): StoredOutput {
  const { result } = output;
  if (result.kind === 'view') return { bytes: encodeBody(result.view.body), item: null, misfits: noMisfits };
  const { item, misfits } = itemOf(output, autoTypes.of(output));
  return { bytes: encodeItem(item), item, misfits };
}

/** The hash of the outputs of one name in a partition. */
export function outputHash(tag: string, tenant: string, { kind, environmentId, name }: OutputName): string {
  return kind === 'view'
    ? keys.views(tag, tenant, environmentId)
    : keys.items(tag, tenant, environmentId, name);
}

/** The field of an entity's output in it. */
export function outputField(
  { kind, name }: Pick<OutputName, 'kind' | 'name'>,
  { sourceId, originId }: Pick<Turn, 'sourceId' | 'originId'>,
): string {
  return kind === 'view' ? viewField(sourceId, name, originId) : itemField(sourceId, originId);
}
