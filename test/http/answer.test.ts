import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptsEvents } from '../../src/http/answer.ts';

test('answer: an Accept header asks for events if it names their type with a weight over 0', () => {
  const asking = [
    'text/event-stream',
    'TEXT/Event-Stream',
    'application/json, text/event-stream',
    'text/event-stream;charset=utf-8',
    'text/event-stream ; q=0.001',
    'text/event-stream;q=1',
  ];
  for (const accept of asking) assert.ok(acceptsEvents(accept), accept);
  const not = [
    '',
    '*/*',
    'text/*',
    'text/event-streams',
    'x-text/event-stream',
    'text/event-stream;q=0',
    'text/event-stream; Q=0.000',
    'application/json, text/event-stream;charset=utf-8;q=0',
    'text/event-stream;q=never',
  ];
  for (const accept of not) assert.ok(!acceptsEvents(accept), accept);
});
