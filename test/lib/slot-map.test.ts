import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SlotMap } from '../../src/lib/slot-map.ts';

test('slot map: contains the members that were added and not removed, each at its slot', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(9))), (steps) => {
      const slots = new SlotMap<{ readonly number: number }>();
      const places = new Map<number, { readonly number: number }>();
      // A number removes the entry at that slot, if there is one; null adds an entry.
      for (const [number, step] of steps.entries()) {
        if (step === null) {
          const member = { number };
          const place = slots.add(member);
          assert.ok(!places.has(place));
          places.set(place, member);
        } else if (places.delete(step)) slots.remove(step);
      }
      const visited: object[] = [];
      slots.each((member) => visited.push(member));
      assert.equal(slots.size, places.size);
      assert.deepEqual(new Set(visited), new Set(places.values()));
      for (const [place, member] of places) assert.equal(slots.at(place), member);
    }),
  );
});

test('slot map: a visit skips members removed during it', () => {
  const slots = new SlotMap<{ readonly name: string }>();
  slots.add({ name: 'first' });
  const second = slots.add({ name: 'second' });
  slots.add({ name: 'third' });
  const visited: string[] = [];
  slots.each(({ name }) => {
    if (name === 'first') slots.remove(second);
    visited.push(name);
  });
  assert.deepEqual(visited, ['first', 'third']);
});
