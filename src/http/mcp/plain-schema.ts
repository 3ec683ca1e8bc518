import type { JsonObject } from '../../contract/json.ts';
import type { Shape } from '../../contract/shape.ts';

/** A shape as JSON Schema that stands alone: named parts are written out where they are used. */
export function plainSchema(shape: Shape): JsonObject {
  const isName = (key: string, value: unknown) => key === 'component' && typeof value === 'string';
  return JSON.parse(JSON.stringify(shape, (key, value) => (isName(key, value) ? undefined : value)));
}
