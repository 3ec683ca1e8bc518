import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  momentAfter,
  momentText,
  type PublishTimes,
  parseMoment,
  publishStates,
  stateAt,
} from '../../src/contract/publish-times.ts';

test('publish times: a time needs a date, hours, minutes and an offset', () => {
  const noon = Date.UTC(2027, 1, 28, 12);
  for (const text of [
    '2027-02-28T12:00Z',
    '2027-02-28T12:00:00z',
    '2027-02-28T13:00+01:00',
    '2027-02-28T06:30:00.000-0530',
    '2027-02-28T12:00:00,000999Z',
    '2027-02-28T14:00+02',
  ]) {
    assert.equal(parseMoment(text), noon, text);
  }
  for (const text of [
    ...['', '2027-02-28', '2027-02-28T12:00', '2027-02-28T12Z', '2027-02-29T12:00Z', '2027-13-01T12:00Z'],
    ...[
      '2027-02-28T24:00Z',
      '2027-02-28T12:60Z',
      '2027-02-28T12:00:60Z',
      '2027-02-28T12:00+24:00',
      '2027-02-28T12:00+1',
    ],
    ...['2027-02-28 12:00Z', ' 2027-02-28T12:00Z', '0000-01-01T00:00+01:00', '9999-12-31T23:59-01:00', '1'],
  ]) {
    assert.equal(parseMoment(text), null, text);
  }
});

test('publish times: a formatted time is parsed as the same time', () => {
  const years = {
    min: new Date('0000-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59Z'),
    noInvalidDate: true,
  };
  fc.assert(
    fc.property(fc.date(years), (date) => {
      assert.equal(parseMoment(momentText(date.getTime()) ?? ''), date.getTime());
    }),
  );
});

test('publish times: an entity goes through its states in order, each ended by its time', () => {
  const moment = fc.option(fc.integer({ min: 1, max: 20 }), { nil: null });
  fc.assert(
    fc.property(moment, moment, (publishAt, unpublishAt) => {
      fc.pre(publishAt === null || unpublishAt === null || publishAt < unpublishAt);
      const times: PublishTimes = { publishAt, unpublishAt };
      let before = 0;
      for (let now = 0; now <= 21; now += 1) {
        const state = stateAt(times, now);
        const isPublished = (publishAt ?? now) <= now && now < (unpublishAt ?? Number.POSITIVE_INFINITY);
        assert.equal(state === 'published', isPublished);
        const at = publishStates.indexOf(state);
        assert.ok(at >= before);
        before = at;
        const next = momentAfter(times, state);
        const expected = [publishAt, unpublishAt].find((one) => one !== null && one > now) ?? null;
        assert.equal(next, expected);
      }
    }),
  );
});
