/** How long a JSON text would be, without making it. */
import type { Json } from '../json.ts';

/** Whether the JSON text of a value has more than so many characters, marks that are escaped counted once. Stops there. */
export function isLongerThan(value: Json, characters: number): boolean {
  return leftBy(value, characters) < 0;
}

/** What the text of a value leaves of so many characters; negative when it is longer. */
function leftBy(value: Json, characters: number): number {
  if (typeof value === 'string') return characters - value.length - 2;
  if (typeof value !== 'object' || value === null) return characters - String(value).length;
  // As many commas as values less one.
  let left = characters - 1;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at += 1) left = leftBy(value[at] ?? null, left - 1);
    return value.length === 0 ? left - 1 : left;
  }
  const names = Object.keys(value);
  for (const name of names) {
    left = leftBy(value[name] ?? null, left - name.length - 4);
    if (left < 0) return left;
  }
  return names.length === 0 ? left - 1 : left;
}
