/** Groups values by key and keeps their order. (Map.groupBy needs Node 21.) */
export function groupBy<T, K>(things: Iterable<T>, keyOf: (thing: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const thing of things) {
    const key = keyOf(thing);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [thing]);
    else group.push(thing);
  }
  return groups;
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Splits a list into portions of a maximum size. */
export function* portions<T>(list: readonly T[], size: number): Generator<readonly T[]> {
  if (list.length > 0 && list.length <= size) yield list;
  else for (let at = 0; at < list.length; at += size) yield list.slice(at, at + size);
}
