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

let lastEntity: StoredEntity | null = null;
let lastValue: EntityValue | null = null;

/**
 * The same value is reused when the build of a large entity continues, so that cached data about it, such as its text, is
 * found.
 */
const large = new WeakMap<StoredEntity, EntityValue>();

/** The value is cached for one entity, because the views and items of an entity are built consecutively. */
export function entityValue(entity: StoredEntity): EntityValue {
  if (entity.isLarge) return largeValue(entity);
  if (lastValue !== null && lastEntity === entity) return lastValue;
  lastEntity = entity;
  lastValue = new EntityValue(entity);
  return lastValue;
}

function largeValue(entity: StoredEntity): EntityValue {
  const known = large.get(entity) ?? new EntityValue(entity);
  large.set(entity, known);
  return known;
}

/** The value of an entity that a lookup found. */
export function foundValue(entity: StoredEntity): EntityValue {
  return entity.isLarge ? largeValue(entity) : new EntityValue(entity);
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
