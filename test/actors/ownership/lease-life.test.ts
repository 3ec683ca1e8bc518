import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LeaseLife } from '../../../src/actors/ownership/lease-life.ts';
import { InvariantError } from '../../../src/lib/assert.ts';

type Event = Parameters<LeaseLife['on']>[0];

function after(...events: Event[]): LeaseLife {
  const life = new LeaseLife();
  for (const event of events) life.on(event);
  return life;
}

const lives: [events: Event[], isLoaded: boolean, acceptsWork: boolean, isEnded: boolean][] = [
  [[], false, true, false],
  [['loaded'], true, true, false],
  [['stopped'], false, false, false],
  [['stopped', 'loaded'], true, false, false],
  [['loaded', 'stopped'], true, false, false],
  [['loaded', 'stopped', 'stopped'], true, false, false],
  [['ended'], false, false, true],
  [['loaded', 'ended'], false, false, true],
  [['loaded', 'stopped', 'ended'], false, false, true],
  [['stopped', 'ended', 'stopped'], false, false, true],
];

test('lease life: a partition answers queries from its load to its end, and accepts work until it is stopped', () => {
  for (const [events, ...expected] of lives) {
    const { isLoaded, acceptsWork, isEnded } = after(...events);
    assert.deepEqual([isLoaded, acceptsWork, isEnded], expected, events.join(', '));
  }
});

test('lease life: an impossible transition is an internal error', () => {
  const impossible: Event[][] = [
    ['loaded', 'loaded'],
    ['loaded', 'stopped', 'loaded'],
    ['ended', 'loaded'],
    ['ended', 'ended'],
  ];
  for (const events of impossible) assert.throws(() => after(...events), InvariantError, events.join(', '));
});
