import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReceivedChanges, subjectsRemembered } from '../../../src/http/cache/received-changes.ts';

test('received changes: changes since a computation began are known for each subject', () => {
  const heard = new ReceivedChanges();
  const early = heard.begin();
  heard.note(['a']);
  const late = heard.begin();
  assert.ok(heard.hasChangedSince(early, ['b', 'a']));
  assert.ok(!heard.hasChangedSince(late, ['b', 'a']));
  heard.note(null);
  assert.ok(heard.hasChangedSince(late, ['b']));
});

test('received changes: with computations always in progress, changes are still forgotten', () => {
  const heard = new ReceivedChanges();
  heard.begin();
  const subjects = Array.from({ length: subjectsRemembered + 1 }, (_, at) => `view ${at}`);
  heard.note(subjects.slice(0, -1));
  const before = heard.begin();
  heard.note(subjects.slice(-1));
  const after = heard.begin();
  assert.ok(heard.hasChangedSince(before, ['other']));
  assert.ok(!heard.hasChangedSince(after, ['other']));
});
