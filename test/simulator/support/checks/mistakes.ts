/** Bugs planted in scripts, which schedules must find. */
import assert from 'node:assert/strict';
import type { Fault } from '../faults.ts';

export interface Mistake {
  /** The source of a script with the bug. */
  alter(script: string, source: string): string;
  /** First seed of the search, which found the bug quickly at the time when it was chosen. */
  readonly seed: number;
  /** The faults of the schedules that find it. */
  readonly faults: readonly [Fault, ...Fault[]];
}

function replaced(source: string, from: string | RegExp, to: string): string {
  const altered = source.replace(from, to);
  assert.notEqual(altered, source, `${from} is no longer in the script`);
  return altered;
}

const ownEpochCheck =
  /if (?:redis\.call\('HGET', KEYS\[1\], 'epoch'\) ~= ARGV\[1\]|owner\[1\] ~= epoch) then/;
const fenceCheck =
  /if tonumber\(redis\.call\('HGET', (?:KEYS|group)\[1\], ARGV\[1\]\) or 0\) > tonumber\(ARGV\[2\]\) then/;
const moveCheckpoint = `
redis.call('HSET', KEYS[1], 'checkpoint', redis.call('HGET', string.sub(KEYS[1], 1, -6) .. 'clock', 'stream'))
return 1`;
const ofOwners = new Set(['commit', 'intend']);
const outside = new Set(['claim', 'invalidate', 'register', 'touch']);
const ofClaims = new Set(['claim', 'commit']);
/** Whether a script includes `parts/ordered-lists.lua`. */
const changesLists = (source: string) => source.includes('function orderedList(');

export const mistakes: Readonly<Record<string, Mistake>> = {
  'an owner whose epoch nobody looks at': {
    alter: (script, source) =>
      ofOwners.has(script) ? replaced(source, ownEpochCheck, 'if false then') : source,
    seed: 1,
    faults: ['lease', 'stall'],
  },
  'effects outside the partition by an owner that was fenced': {
    alter: (script, source) => (outside.has(script) ? replaced(source, fenceCheck, 'if false then') : source),
    seed: 1,
    faults: ['lease', 'stall'],
  },
  'a checkpoint that moves before the work is committed': {
    alter: (script, source) => (script === 'intend' ? replaced(source, 'return 1', moveCheckpoint) : source),
    seed: 1,
    faults: ['crash', 'redis'],
  },
  'intents that are not noted': {
    alter: (script, source) => (script === 'intend' ? replaced(source, /^for .* end$/m, '') : source),
    seed: 22,
    faults: ['crash', 'links'],
  },
  'lookups that read an index before all partitions have filled it': {
    alter: (script, source) =>
      script === 'fill' ? replaced(source, /^ {2}if .* filled .. partition.*$/m, '') : source,
    seed: 2,
    faults: ['configure', 'jobs', 'stall'],
  },
  'a former lookup layout that is not kept until everybody knows the new one': {
    alter: (script, source) =>
      script === 'fill' ? replaced(source, /^if now then .*before, now.*$/m, '') : source,
    seed: 2,
    faults: ['configure', 'jobs', 'link'],
  },
  'a new owner that does not fence the one before': {
    alter: (script, source) =>
      script === 'fence' ? replaced(source, "redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])", '') : source,
    seed: 1,
    faults: ['lease', 'stall'],
  },
  'a claim on top of others that is not put into its place': {
    alter: (script, source) =>
      ofClaims.has(script)
        ? replaced(source, 'largestStamp - tonumber(claim[1])', 'tonumber(claim[1])')
        : source,
    seed: 1,
    faults: ['links'],
  },
  'other claims on a field that fronts do not hear of': {
    alter: (script, source) =>
      ofClaims.has(script) ? replaced(source, /^ *if isNew then digests.*$/m, '') : source,
    seed: 1,
    faults: ['links'],
  },
  'invalidations that a commit does not tell of': {
    alter: (script, source) =>
      script === 'commit' ? replaced(source, "callEach('HSET', sent, downstream)", '') : source,
    seed: 2,
    faults: ['links'],
  },
  'a text that is lost when a leaf is cut': {
    alter: (_script, source) =>
      changesLists(source) ? replaced(source, 'upper, place, -1)', 'upper, place + 1, -1)') : source,
    seed: 1,
    faults: ['links'],
  },
  'a leaf that becomes one with another and stays': {
    alter: (_script, source) =>
      changesLists(source) ? replaced(source, "redis.call('DEL', list.leaves .. upper)", '') : source,
    seed: 1,
    faults: ['links'],
  },
  'a partition that is taken while another worker holds it': {
    alter: (script, source) =>
      script === 'lease'
        ? replaced(source, /if owner\[1\] and .* untilMs > nowMs and not isUnrenewed then/, 'if false then')
        : source,
    seed: 1,
    faults: ['crash', 'stop'],
  },
};
