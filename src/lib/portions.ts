/** Cuts a list into portions of at most so many, in order. */
export function* portions<T>(list: readonly T[], size: number): Generator<readonly T[]> {
  if (list.length > 0 && list.length <= size) yield list;
  else for (let at = 0; at < list.length; at += size) yield list.slice(at, at + size);
}
