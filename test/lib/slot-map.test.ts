import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Roster } from '../../src/lib/slot-map.ts';

test('a roster has the members that were added and not removed, each at its place', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(9))), (steps) => {
      const roster = new Roster<{ readonly number: number }>();
      const places = new Map<number, { readonly number: number }>();
      // A number removes the place that it names if somebody is there, null adds somebody.
      for (const [number, step] of steps.entries()) {
        if (step === null) {
          const member = { number };
          const place = roster.add(member);
          assert.ok(!places.has(place));
          places.set(place, member);
        } else if (places.delete(step)) roster.remove(step);
      }
      const visited: object[] = [];
      roster.each((member) => visited.push(member));
      assert.equal(roster.size, places.size);
      assert.deepEqual(new Set(visited), new Set(places.values()));
      for (const [place, member] of places) assert.equal(roster.at(place), member);
    }),
  );
});

test('a visit leaves out who was removed meanwhile', () => {
  const roster = new Roster<{ readonly name: string }>();
  roster.add({ name: 'first' });
  const second = roster.add({ name: 'second' });
  roster.add({ name: 'third' });
  const visited: string[] = [];
  roster.each(({ name }) => {
    if (name === 'first') roster.remove(second);
    visited.push(name);
  });
  assert.deepEqual(visited, ['first', 'third']);
});
