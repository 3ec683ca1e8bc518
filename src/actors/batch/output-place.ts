/** Where an output lies in Redis. */
import { type NameList, nameListFor } from '../../store/codec/name-lists.ts';
import { keys, viewField } from '../../store/keys.ts';
import type { Builder, OutputName } from './builder.ts';
import type { Turn } from './turn.ts';

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
