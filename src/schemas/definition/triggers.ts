import type { Cursor } from '../../contract/config-cursor.ts';

const advice = 'Write source groups with their entity types: {"cms": ["article"]}.';

export type Triggers = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Reads which entities trigger a schema (docs/reference/configuration.md "Triggers"): `triggers` maps source group aliases to
 * arrays of entity types, and `sourceEntityTypes` is an array of types of any source group. One of them is required.
 * @param root of the schema file
 * @param sourceGroups aliases of all source groups of the tenant
 */
export function readTriggers(root: Cursor, sourceGroups: readonly string[]): Triggers {
  const ofAnyGroup = root.member('sourceEntityTypes');
  const ofGroups = root.member('triggers');
  const triggers = new Map<string, ReadonlySet<string>>();
  if (!ofAnyGroup.isAbsent) {
    const types = readTypes(
      ofAnyGroup,
      'Write ["article"], or `triggers` for the types of one source group.',
    );
    for (const group of sourceGroups) triggers.set(group, types);
  }
  if (ofGroups.isAbsent && !ofAnyGroup.isAbsent) return triggers;
  if (ofGroups.anyObject(advice) === null) return triggers;
  for (const group of ofGroups.names()) {
    const types = readTypes(ofGroups.member(group), advice);
    triggers.set(group, new Set([...(triggers.get(group) ?? []), ...types]));
  }
  return triggers;
}

function readTypes(at: Cursor, typesAdvice: string): ReadonlySet<string> {
  const types = new Set<string>();
  for (const item of at.items('a list of entity types', typesAdvice)) {
    const type = item.text('Name an entity type.');
    if (type === '') item.issue('an entity type cannot be empty', 'Name it or remove this line.');
    if (type !== null) types.add(type);
  }
  return types;
}
