/** Source entities of a test, by source and originId. */
import type { SourceEntity, StoredEntity } from '../../../../src/contract/entity.ts';
import type { JsonObject } from '../../../../src/contract/json.ts';

export type SourceEntities = ReadonlyMap<string, SourceEntity>;
/** sourceId -> originId -> entity. */
export type World = ReadonlyMap<string, SourceEntities>;

export function entityOf(
  originId: string,
  type: string,
  properties: JsonObject,
  rest: Partial<SourceEntity> = {},
): SourceEntity {
  return { originId, type, url: null, originParentId: null, redirects: [], ...rest, properties };
}

export function storedEntity(sourceId: string, entity: SourceEntity): StoredEntity {
  return { ...entity, sourceId, stamp: 1, bornStamp: 1, urlStamp: 1 };
}
