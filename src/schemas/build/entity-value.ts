import type { StoredEntity } from '../../contract/entity.ts';
import { formatEntityId } from '../../contract/ids.ts';
import type { Json, JsonObject } from '../../contract/json.ts';

/**
 * A source entity in expressions: `root`, an item of a lookup, the input of a partial. `{root}` copies its JSON form; `p` is an
 * alias of `properties` that is not in the JSON form.
 */
export class EntityValue {
  readonly [name: string]: Json;
  readonly id: string;
  readonly originId: string;
  readonly originParentId: string | null;
  readonly type: string;
  readonly url: string | null;
  readonly redirects: string[];
  readonly properties: JsonObject;

  constructor(entity: StoredEntity) {
    this.id = formatEntityId(entity);
    this.originId = entity.originId;
    this.originParentId = entity.originParentId;
    this.type = entity.type;
    this.url = entity.url;
    this.redirects = [...entity.redirects];
    this.properties = entity.properties;
  }
}

/**
 * The same value is reused when the build of a large entity continues, so that cached data about it, such as its text, is
 * found.
 */
const large = new WeakMap<StoredEntity, EntityValue>();

export function entityValue(entity: StoredEntity): EntityValue {
  if (!entity.isLarge) return new EntityValue(entity);
  const known = large.get(entity) ?? new EntityValue(entity);
  large.set(entity, known);
  return known;
}

/** The fields of an entity, in the order of its JSON form. */
export const entityFields = [
  'id',
  'originId',
  'originParentId',
  'type',
  'url',
  'redirects',
  'properties',
] as const;

export type EntityField = (typeof entityFields)[number];

export function isEntityField(name: string): name is EntityField {
  return (entityFields as readonly string[]).includes(name);
}
