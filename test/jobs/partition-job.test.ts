import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OwnerSlots } from '../../src/jobs/partition-job.ts';

test('partition job: partitions of one worker are rebuilt one after the other, those of others in parallel', async () => {
  const slots = new OwnerSlots();
  const entered: string[] = [];
  const enter = async (owner: string | null, name: string) => {
    const release = await slots.take(owner);
    entered.push(name);
    return release;
  };
  const first = await enter('a', 'a1');
  const second = enter('a', 'a2');
  const other = await enter('b', 'b1');
  const nobodys = await enter(null, 'n1');
  assert.deepEqual(entered, ['a1', 'b1', 'n1']);
  first();
  const release = await second;
  assert.deepEqual(entered, ['a1', 'b1', 'n1', 'a2']);
  for (const end of [release, other, nobodys]) end();
});
