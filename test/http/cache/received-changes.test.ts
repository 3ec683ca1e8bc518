import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReceivedChanges, subjectsRemembered } from '../../../src/http/cache/received-changes.ts';

test('received changes: changes since a computation began are known for each subject', () => {
  const received = new ReceivedChanges();
  const early = received.begin();
  received.add(['a']);
  const late = received.begin();
  assert.ok(received.hasChangedSince(early, ['b', 'a']));
  assert.ok(!received.hasChangedSince(late, ['b', 'a']));
  received.add(null);
  assert.ok(received.hasChangedSince(late, ['b']));
});

test('received changes: with computations always in progress, changes are still forgotten', () => {
  const received = new ReceivedChanges();
  received.begin();
  const subjects = Array.from({ length: subjectsRemembered + 1 }, (_, at) => `view ${at}`);
  received.add(subjects.slice(0, -1));
  const before = received.begin();
  received.add(subjects.slice(-1));
  const after = received.begin();
  assert.ok(received.hasChangedSince(before, ['other']));
  assert.ok(!received.hasChangedSince(after, ['other']));
});
