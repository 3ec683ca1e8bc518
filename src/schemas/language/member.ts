import type { Json } from '../../contract/json.ts';
import { EntityValue } from './entity-value.ts';

/**
 * The member of an object, or undefined; of an entity `p` is `properties`
 * (docs/reference/mapping-language.md "Expressions").
 */
export function ownMember(value: Json, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  if (Object.hasOwn(value, name)) return value[name];
  return name === 'p' && value instanceof EntityValue ? value.properties : undefined;
}

/** The member of an object; null where there is none, whatever `value` is. */
export function member(value: Json, name: string): Json {
  return ownMember(value, name) ?? null;
}

/** The element of an array; null where there is none, whatever `value` is. */
export function element(value: Json, index: number): Json {
  return Array.isArray(value) ? (value[index] ?? null) : null;
}

/**
 * A value as the list that an array maps: null is nothing, what is not an array is the only element
 * (docs/reference/mapping-language.md "array").
 */
export function listOf(value: Json): Json[] {
  if (value === null) return [];
  return Array.isArray(value) ? value : [value];
}
