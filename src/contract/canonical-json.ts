import { isJsonObject, type JsonObject, setOwn } from './json.ts';

/**
 * JSON text with object members in one order at every depth, so that equal values have equal text whatever the order
 * in which they were sent. Recursive: callers bound the depth (`jsonDepthMax`) when they read the value.
 * @param value plain data, which JSON writes whole
 */
export function canonicalJson(value: object | string | number | boolean | null): string {
  return JSON.stringify(inOrder(value));
}

/** The value itself when it is in order already: then nothing is copied, which makes this fast. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return itemsInOrder(value);
  return isJsonObject(value) ? membersInOrder(value) : value;
}

function itemsInOrder(items: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | null = null;
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at];
    if (typeof item !== 'object' || item === null) continue;
    const ordered = inOrder(item);
    if (ordered === item) continue;
    copy ??= [...items];
    copy[at] = ordered;
  }
  return copy ?? items;
}

/** Members ordered by name; names that are array indexes come first, where every engine puts them. */
function membersInOrder(members: JsonObject): object {
  const names = Object.keys(members);
  const ordered = sorted(names);
  let isSame = true;
  const values = ordered.map((name, at) => {
    const member = members[name] ?? null;
    const value = inOrder(member);
    if (value !== member || name !== names[at]) isSame = false;
    return value;
  });
  if (isSame) return members;
  const copy: Record<string, unknown> = {};
  for (const [at, name] of ordered.entries()) setOwn(copy, name, values[at] ?? null);
  return copy;
}

let lastNames: readonly string[] = [];
let lastSorted: readonly string[] = [];

/** Objects of one kind have the same names and often follow each other: the names are sorted once. */
function sorted(names: readonly string[]): readonly string[] {
  if (names.length !== lastNames.length || !names.every((name, at) => name === lastNames[at])) {
    lastNames = names;
    lastSorted = [...names].sort();
  }
  return lastSorted;
}
