/** Invariants of ordered lists once no work is left: of their leaves and lengths, of the directory and of the schedules. */
import assert from 'node:assert/strict';
import { scheduleText } from '../../../../src/store/entities/entity-schedule.ts';
import { keys, type Partitions } from '../../../../src/store/keys.ts';
import { sourceIds, type World } from '../../../actors/support/world.ts';
import { leafMax, longText } from '../lua/small-leaves.ts';
import type { Keyspace } from '../redis/keyspace.ts';

/**
 * @param worlds entities by tenant
 * @throws AssertionError
 */
export function checkLists(
  keyspace: Keyspace,
  partitions: Partitions,
  worlds: ReadonlyMap<string, World>,
): void {
  const names = keyspace.names();
  const namesOf = (part: string) => names.filter((name) => name.split(':', 2)[1] === part);
  const [routes, directories, schedules] = [namesOf('routes'), namesOf('directory'), namesOf('schedule')];
  const leaves = new Set(namesOf('leaf'));
  const texts = new Map<string, string[]>();
  for (const list of [...routes, ...directories, ...schedules])
    texts.set(list, takeTexts(keyspace, list, leaves));
  assert.deepEqual([...leaves], [], 'orphaned leaves');
  const lengths = partitions.tags.flatMap((tag) => [...keyspace.hash(keys.lengths(tag))]);
  const counted = [...texts].map(([list, { length }]) => [list, String(length)]);
  assert.deepEqual(lengths.sort(), counted.sort(), 'lengths of lists');
  const listed = directories.map((list) => [list, texts.get(list)]);
  assert.deepEqual(listed.sort(), [...directoryOf(partitions, worlds)].sort(), 'directory');
  const waiting = schedules.map((list) => [list, texts.get(list)]);
  assert.deepEqual(waiting.sort(), [...schedulesOf(partitions, worlds)].sort(), 'schedules');
}

/** The strings of a list in order. @param leaves the leaves of the list are removed from it */
function takeTexts(keyspace: Keyspace, list: string, leaves: Set<string>): string[] {
  const bounds = keyspace
    .sortedSet(list)
    .ordered()
    .map(([bound]) => bound);
  assert.equal(bounds[0], '', `first bound of ${list}`);
  return bounds.flatMap((bound, at) => {
    const leaf = keys.leaf(list, bound);
    assert.ok(leaves.delete(leaf), `${leaf} is missing`);
    const texts = [...keyspace.list(leaf)].sort();
    const next = bounds[at + 1];
    const isWithin = (text: string) => text >= bound && (next === undefined || text < next);
    assert.ok(texts.every(isWithin), `${leaf} before ${next} has ${texts}`);
    assert.equal(new Set(texts).size, texts.length, `${leaf} has a duplicate string: ${texts}`);
    assert.ok(texts.length <= leafMax, `${leaf} has ${texts.length} strings`);
    const longs = texts.filter(({ length }) => length > longText);
    assert.ok(longs.length <= 1, `${leaf} has ${longs.length} long strings`);
    return texts;
  });
}

/** The lists of the directory, with their originIds in order, computed from the entities. */
function directoryOf(partitions: Partitions, worlds: ReadonlyMap<string, World>): Map<string, string[]> {
  const lists = new Map<string, string[]>();
  for (const [tenant, world] of worlds) {
    for (const sourceId of sourceIds) {
      for (const { originId, type } of world.of(sourceId).values()) {
        const tag = partitions.tag(partitions.ofEntity(sourceId, originId));
        const list = keys.directory(tag, tenant, sourceId, type);
        lists.set(list, [...(lists.get(list) ?? []), originId].sort());
      }
    }
  }
  return lists;
}

/** The schedules, with their strings in order, computed from the times of the entities. */
function schedulesOf(partitions: Partitions, worlds: ReadonlyMap<string, World>): Map<string, string[]> {
  const lists = new Map<string, string[]>();
  for (const [tenant, world] of worlds) {
    for (const sourceId of sourceIds) {
      for (const entity of world.of(sourceId).values()) {
        const atMs = world.nextMoment(entity);
        if (atMs === null) continue;
        const { originId } = entity;
        const list = keys.schedule(partitions.tag(partitions.ofEntity(sourceId, originId)), tenant, sourceId);
        lists.set(list, [...(lists.get(list) ?? []), scheduleText({ atMs, originId })].sort());
      }
    }
  }
  return lists;
}
