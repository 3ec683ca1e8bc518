import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { BoundedCache } from '../../src/lib/bounded-cache.ts';

test('bounded cache: the least recently used value is evicted first', () => {
  const cache = new BoundedCache<string, number>({ entriesMax: 2 });
  cache.set('a', 1);
  cache.set('b', 2);
  assert.equal(cache.get('a'), 1);
  cache.set('c', 3);
  assert.equal(cache.get('b'), undefined);
  assert.deepEqual([cache.get('a'), cache.get('c')], [1, 3]);
});

test('bounded cache: a value heavier than the whole cache is not stored, and removes the one it replaces', () => {
  const left: string[] = [];
  const cache = new BoundedCache<string, string>({
    entriesMax: 10,
    weightMax: 5,
    weigh: (value) => value.length,
    onRemove: (value) => left.push(value),
  });
  cache.set('a', 'short');
  cache.set('a', 'far too long');
  assert.equal(cache.get('a'), undefined);
  assert.equal(cache.weight, 0);
  assert.deepEqual(left, ['short']);
});

test('bounded cache: a missing value is computed once and stored', () => {
  const cache = new BoundedCache<string, number>({ entriesMax: 2 });
  let made = 0;
  const make = () => {
    made += 1;
    return made;
  };
  assert.equal(cache.getOrCreate('a', make), 1);
  assert.equal(cache.getOrCreate('a', make), 1);
});

test('bounded cache: after any history it contains the same as a plain list of recent uses', () => {
  const step = fc.record({
    kind: fc.constantFrom('get', 'set', 'delete', 'clear'),
    key: fc.integer({ min: 0, max: 6 }),
    value: fc.integer({ min: 1, max: 6 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let left = 0;
      let entered = 0;
      const cache = new BoundedCache<number, number>({
        entriesMax: 4,
        weightMax: 12,
        weigh: (value) => value,
        onRemove: () => {
          left += 1;
        },
      });
      let naive: { key: number; value: number }[] = [];
      for (const { kind, key, value } of steps) {
        const found = naive.find((entry) => entry.key === key);
        const others = naive.filter((entry) => entry.key !== key);
        if (kind === 'clear') {
          cache.clear();
          naive = [];
        } else if (kind === 'delete') {
          assert.equal(cache.delete(key), found !== undefined);
          naive = others;
        } else if (kind === 'get') {
          assert.equal(cache.get(key), found?.value);
          if (found !== undefined) naive = [...others, found];
        } else {
          cache.set(key, value);
          entered += 1;
          naive = [...others, { key, value }];
          while (naive.length > 4 || naive.reduce((sum, entry) => sum + entry.value, 0) > 12) naive.shift();
        }
        assert.equal(cache.size, naive.length);
        assert.equal(
          cache.weight,
          naive.reduce((sum, entry) => sum + entry.value, 0),
        );
        assert.equal(entered - left, cache.size);
      }
    }),
  );
});

test('bounded cache: uses take no memory, however many there are', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const cache = new BoundedCache<number, number>({ entriesMax: 1_000 });
  const useAll = (times: number) => {
    for (let time = 0; time < times; time += 1) {
      for (let key = 0; key < 100; key += 1) cache.getOrCreate(key, () => key);
    }
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = useAll(100);
  const grown = useAll(10_000) - before;
  assert.ok(grown < 2_000_000, `${grown} bytes after a million uses`);
});
