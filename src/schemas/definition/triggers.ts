import type { Cursor } from '../../contract/config-cursor.ts';

const advice = 'Write source groups with the entity types that they hand in: {"cms": ["article"]}.';

/** `triggers`: source group alias -> array of entity types; required (docs/reference/configuration.md "Triggers"). */
export function readTriggers(at: Cursor): ReadonlyMap<string, ReadonlySet<string>> {
  const triggers = new Map<string, ReadonlySet<string>>();
  if (at.anyObject(advice) === null) return triggers;
  for (const group of at.names()) triggers.set(group, readTypes(at.member(group)));
  return triggers;
}

function readTypes(at: Cursor): ReadonlySet<string> {
  const types = new Set<string>();
  for (const item of at.items('a list of entity types', advice)) {
    const type = item.text('Name an entity type.');
    if (type === '') item.issue('an entity type cannot be empty', 'Name it or remove this line.');
    if (type !== null) types.add(type);
  }
  return types;
}
