import { isEntityField } from '../language/entity-value.ts';
import type { PropertyPath } from './plan.ts';

/**
 * Where a name of `sourceEntityProperty` or `orderBy.property` is looked for, best first: a dotted path in
 * `properties`, then, for the name of an entity's own field such as `originParentId`, that field. With `properties.`
 * or `p.` in front it is looked for in the properties alone.
 */
export function propertyPaths(name: string): readonly PropertyPath[] {
  const [first = '', ...rest] = name.split('.');
  if ((first === 'properties' || first === 'p') && rest.length > 0) return [['properties', ...rest]];
  const inProperties = ['properties', first, ...rest];
  return rest.length === 0 && isEntityField(first) ? [inProperties, [first]] : [inProperties];
}
