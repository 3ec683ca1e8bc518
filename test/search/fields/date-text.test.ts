import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseDate, parseDateText } from '../../../src/search/fields/date-text.ts';

test('date text: a time written by JavaScript is parsed as JavaScript parses it', () => {
  const from = Date.parse('0001-01-01');
  const to = Date.parse('9999-12-31');
  fc.assert(
    fc.property(fc.integer({ min: from, max: to }), (ms) => {
      const text = new Date(ms).toISOString();
      assert.equal(parseDateText(text), ms);
      assert.equal(parseDateText(text.slice(0, 10)), Date.parse(text.slice(0, 10)));
    }),
  );
});

test('date text: only days of the calendar are dates', () => {
  for (const text of [
    '2024-02-30',
    '2023-02-29',
    '1900-02-29',
    '2024-00-10',
    '2024-04-31',
    '2024-1-01',
    'today',
  ]) {
    assert.equal(parseDateText(text), null, text);
  }
  assert.equal(parseDateText('2000-02-29'), Date.UTC(2000, 1, 29));
  assert.equal(parseDateText('0099-01-01'), Date.parse('0099-01-01'));
});

test('date text: offsets are subtracted, and digits beyond milliseconds are truncated', () => {
  const noon = Date.UTC(2024, 0, 1, 12);
  for (const text of [
    '2024-01-01T12:00',
    '2024-01-01T12:00:00Z',
    '2024-01-01T14:30+02:30',
    '2024-01-01T07:00:00-05',
  ]) {
    assert.equal(parseDateText(text), noon, text);
  }
  assert.equal(parseDateText('2024-01-01T12:00:00.123999Z'), noon + 123);
  for (const time of ['24:00', '12:60', '12:00:60', '12:00+24:00', '12']) {
    assert.equal(parseDateText(`2024-01-01T${time}`), null, time);
  }
});

test('date text: milliseconds are dates within the range of ECMAScript', () => {
  assert.equal(parseDate(-1.5), -1.5);
  assert.equal(parseDate(8.64e15), 8.64e15);
  for (const value of [8.65e15, Number.NaN, true, null, {}]) assert.equal(parseDate(value), null);
});
