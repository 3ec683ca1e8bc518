import { isEntityField } from '../language/entity-value.ts';
import type { PropertyPath } from './plan.ts';

/**
 * Where a name of `sourceEntityProperty` or `orderBy.property` is looked for, best first. First comes a dotted path in
 * `properties`, then an entity's own field of that name, such as `originParentId`. With `properties.`
 * or `p.` in front it is looked for in the properties alone.
 */
export function propertyPaths(name: string): readonly PropertyPath[] {
  const [first = '', ...rest] = name.split('.');
  if ((first === 'properties' || first === 'p') && rest.length > 0) return [['properties', ...rest]];
  const inProperties = ['properties', first, ...rest];
  return rest.length === 0 && isEntityField(first) ? [inProperties, [first]] : [inProperties];
}
