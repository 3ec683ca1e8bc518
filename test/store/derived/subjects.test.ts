import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatViewId } from '../../../src/contract/ids.ts';
import { digestOf } from '../../../src/store/codec/digest.ts';
import {
  type AnswerParts,
  aliasTag,
  answerTags,
  changeTags,
  claimSubject,
  environmentTag,
} from '../../../src/store/derived/subjects.ts';
import { claimField } from '../../../src/store/keys.ts';
import { runs } from '../../support/runs.ts';
import { textWithDigest } from '../../support/xxh64.ts';

const scope = { tenant: 't', environmentId: 'e' };
const view = (number: number, alias = `a${number % 5}`) => ({ sourceId: 's', originId: `o${number}`, alias });
const idOf = (number: number, alias?: string) => formatViewId({ environmentId: 'e', ...view(number, alias) });
const range = (count: number) => Array.from({ length: count }, (_, at) => at);
const nothing: AnswerParts = { views: [], viewIds: [], claimFields: [] };

/** Ids of what an answer was built from. They are large enough that tags have to be widened. */
const anAnswer = fc.record({
  views: fc.uniqueArray(fc.nat(2000), { maxLength: 1000, size: 'max' }),
  viewIds: fc.uniqueArray(fc.nat(2000), { maxLength: 1000, size: 'max' }),
  handles: fc.uniqueArray(fc.nat(2000), { maxLength: 1000, size: 'max' }),
  url: fc.nat(3),
  aliases: fc.constantFrom(5, 2000),
});

test('subjects: a change of anything that an answer was built from has one of its tags, at any tag width', () => {
  const widths = new Set<string>();
  fc.assert(
    fc.property(anAnswer, fc.nat(2000), ({ views, viewIds, handles, url, aliases }, number) => {
      const aliasOf = (of: number) => `a${of % aliases}`;
      const tags = answerTags(scope, {
        views: views.map((of) => view(of, aliasOf(of))),
        viewIds: viewIds.map((of) => idOf(of, aliasOf(of))),
        claimFields: [claimField.url(`/${url}`), ...handles.map((of) => claimField.handle(`h${of}`))],
      });
      const isHit = (changed: readonly string[]) => changed.some((tag) => tags.includes(tag));
      const changed = view(number, aliasOf(number));
      const stranger = view(9999, 'other');
      const width = tags.includes(environmentTag(scope))
        ? 'widest'
        : tags.includes(aliasTag(scope, aliasOf(views[0] ?? viewIds[0] ?? -1)))
          ? 'wide'
          : 'narrow';
      widths.add(width);
      const isMade = views.includes(number) || viewIds.includes(number);
      if (isMade) assert.ok(isHit(changeTags(scope, changed, [])));
      if (width === 'narrow') assert.equal(isHit(changeTags(scope, changed, [])), isMade);
      const onHandle = changeTags(scope, stranger, [claimField.handle(`h${number}`)]);
      if (handles.includes(number)) assert.ok(isHit(onHandle));
      if (width !== 'widest') assert.equal(isHit(onHandle), handles.includes(number));
      assert.ok(isHit(changeTags(scope, stranger, [claimField.url(`/${url}`)])));
      assert.ok(tags.join(',').length <= 8000);
      assert.equal(new Set(tags).size, tags.length);
      for (const tag of tags) assert.match(tag, /^[A-Za-z0-9_-]{1,24}$/);
    }),
    { numRuns: runs(200) },
  );
  assert.deepEqual([...widths].sort(), ['narrow', 'wide', 'widest']);
});

test('subjects: tags are narrow while they fit', () => {
  const tagsOf = (count: number) =>
    answerTags(scope, { ...nothing, views: range(count).map((of) => view(of)) });
  const most = range(1000).findLast((count) => tagsOf(count).length === count) ?? 0;
  assert.ok(tagsOf(most).join(',').length > 7950);
  assert.equal(tagsOf(most + 1).length, 5);
});

test('subjects: a requested id, and a reference to a missing view, have the tag of the view that may appear', () => {
  const made = changeTags(scope, view(7), []);
  const [tag, ...others] = answerTags(scope, { ...nothing, viewIds: [idOf(7)] });
  assert.deepEqual([made.includes(tag ?? ''), others], [true, []]);
  const foreign = formatViewId({ environmentId: 'other', ...view(7) });
  for (const viewId of ['nonsense', '', 'a, b\r\nX: y', foreign]) {
    const [only = '', ...more] = answerTags(scope, { ...nothing, viewIds: [viewId] });
    assert.match(only, /^[A-Za-z0-9_-]{1,24}$/);
    assert.deepEqual([made.includes(only), more], [false, []]);
  }
});

test('subjects: environments and tenants share no tag', () => {
  const scopes = [scope, { tenant: 't', environmentId: 'f' }, { tenant: 'u', environmentId: 'e' }];
  const all = scopes.flatMap((one) =>
    changeTags(one, view(1), [claimField.url('/x'), claimField.handle('x'), claimField.handle('/x')]),
  );
  assert.equal(new Set(all).size, 3 * 6);
});

test('subjects: no handle can be chosen so that its changes purge the environment of another tenant', () => {
  const victim = { tenant: 'victim', environmentId: '11111111-1111-4111-8111-111111111111' };
  const attacker = { tenant: 'attacker', environmentId: '33333333-3333-4333-8333-333333333333' };
  const ofVictim = `${victim.tenant}:${victim.environmentId}:e`;
  const beginning = claimSubject(attacker, claimField.handle(''));
  const chosen = textWithDigest(digestOf(ofVictim), { beginning, allowed: /^[!-~]{8}$/ });
  assert.deepEqual(digestOf(chosen), digestOf(ofVictim));
  const handle = claimField.handle(chosen.slice(beginning.length));
  assert.equal(claimSubject(attacker, handle), chosen);
  assert.ok(!changeTags(attacker, view(1), [handle]).includes(environmentTag(victim)));
});
