/** An output as Redis has it: where it lies, and its bytes. Batches write it so, and verifications expect it so. */
import { chain, type Maybe } from '../../lib/pace.ts';
import { encodeItem, type StoredItem } from '../../store/derived/items.ts';
import { encodeBody } from '../../store/derived/stored-body.ts';
import { type NameList, nameListFor } from '../../store/entities/name-lists.ts';
import { keys, viewField } from '../../store/keys.ts';
import type { AutoTypes } from './auto-types.ts';
import type { Builder, OutputName } from './builder.ts';
import { itemOf, type Misfit, noMisfits } from './item.ts';
import type { Output } from './output.ts';
import type { Turn } from './turn.ts';

export interface StoredOutput {
  readonly bytes: Buffer;
  /** Null for a view. */
  readonly item: StoredItem | null;
  readonly misfits: readonly Misfit[];
}

/** In steps when the output is large. @param output one that is built, and not deferred */
export function storedOutput(output: Output, autoTypes: AutoTypes): Maybe<StoredOutput> {
  const { result } = output;
  if (result.kind === 'view') {
    const encoded = encodeBody(result.view.body, output.turn.sourceId);
    return chain(encoded, (bytes) => ({ bytes, item: null, misfits: noMisfits }));
  }
  return chain(itemOf(output, autoTypes.of(output)), ({ item, misfits }) => ({
    bytes: encodeItem(item, itemNameList(output.builder)),
    item,
    misfits,
  }));
}

/** The names that items of an index leave out; those of an auto-indexed type are not known before. */
export function itemNameList(builder: Builder): NameList | null {
  return builder.kind === 'item' && builder.schema !== null ? nameListFor(builder.schema.names) : null;
}

/** The hash of the outputs of one name, of the entities of one source in a partition. */
export function outputHash(
  tag: string,
  { tenantAlias: tenant, sourceId }: Pick<Turn, 'tenantAlias' | 'sourceId'>,
  { kind, environmentId, name }: OutputName,
): string {
  return kind === 'view'
    ? keys.views(tag, tenant, environmentId, sourceId)
    : keys.items(tag, tenant, environmentId, sourceId, name);
}

/** The field of an entity's output in it. */
export function outputField(
  { kind, name }: Pick<OutputName, 'kind' | 'name'>,
  { originId }: Pick<Turn, 'originId'>,
): string {
  return kind === 'view' ? viewField(name, originId) : originId;
}
