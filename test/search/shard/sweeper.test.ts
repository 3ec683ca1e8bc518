import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sweeper } from '../../../src/search/shard/sweeper.ts';
import { TextIndex } from '../../../src/search/text/text-index.ts';

test('sweeper: ids are returned once no list contains them, in small steps', () => {
  const text = new TextIndex();
  const freed: number[] = [];
  const sweeper = new Sweeper((doc) => freed.push(doc));
  sweeper.watch(text);
  for (let doc = 0; doc < 3000; doc += 1) {
    for (const word of [`word${doc % 10}`, `only${doc}`, `only${doc}`]) text.add(doc, word);
  }
  for (let doc = 0; doc < 2000; doc += 1) sweeper.bury(doc);
  assert.equal(text.postingCount, 6000, 'nothing is done before it is due');
  let changes = 0;
  for (let due = sweeper.dueWith(1000); due > 0; due = sweeper.dueWith(1000)) {
    sweeper.advance(due);
    changes += 1;
  }
  assert.ok(changes > 20, `${changes} changes shared the work`);
  assert.equal(text.postingCount, 2000);
  assert.deepEqual(
    freed.sort((a, b) => a - b),
    Array.from({ length: 2000 }, (_, doc) => doc),
  );
});

test('sweeper: a few dead docs are not swept yet', () => {
  const sweeper = new Sweeper(() => assert.fail('nothing is due'));
  for (let doc = 0; doc < 1000; doc += 1) sweeper.bury(doc);
  assert.equal(sweeper.dueWith(10), 0);
  assert.ok(!sweeper.isMostlyDead(10));
});
