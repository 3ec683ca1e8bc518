/** Numbers and words that look random and are the same in every run. */

/** Numbers from 0 to 1 (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `count` of the items, each at most once, in a random order. */
export function sample<T>(items: readonly T[], count: number, next: () => number): T[] {
  const pool = [...items];
  const wanted = Math.min(count, pool.length);
  for (let at = 0; at < wanted; at += 1) {
    const other = at + Math.floor(next() * (pool.length - at));
    [pool[at], pool[other]] = [pool[other] as T, pool[at] as T];
  }
  return pool.slice(0, wanted);
}

const syllables =
  'ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu na ne ni no nu'.split(' ');

/** Pronounceable words, separated by spaces. */
export function wordsFrom(next: () => number, count: number): string {
  return Array.from({ length: count }, () => word(next)).join(' ');
}

function word(next: () => number): string {
  const length = 2 + Math.floor(next() * 3);
  return Array.from({ length }, () => syllables[Math.floor(next() * syllables.length)] ?? '').join('');
}
