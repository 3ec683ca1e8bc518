import type { StoredEntity } from '../../contract/entity.ts';
import { formatEntityId } from '../../contract/ids.ts';
import type { Json, JsonObject } from '../../contract/json.ts';

/**
 * A source entity as expressions see it: `root`, an item of a lookup, the input of a partial. Its JSON form is what
 * `{root}` copies; `p` is a second name of `properties` that its JSON form does not show.
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

/** Of large entities: what is known of a value, such as its text, is known of the same value when a build continues. */
const large = new WeakMap<StoredEntity, EntityValue>();

/** The views and items of one entity are made one after the other: they see the same value. */
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

/** An entity that a lookup found. */
export function foundValue(entity: StoredEntity): EntityValue {
  return entity.isLarge ? largeValue(entity) : new EntityValue(entity);
}

/** The names of an entity's own fields, in the order of its JSON form. */
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
