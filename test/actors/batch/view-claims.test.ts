import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimsOf, type FormerClaims, formerClaims } from '../../../src/actors/batch/view-claims.ts';
import type { UrlForm } from '../../../src/config/urls/url.ts';
import type { StoredEntity } from '../../../src/contract/entity.ts';
import type { PublishState, PublishTimes } from '../../../src/contract/publish-times.ts';
import type { ViewClaims } from '../../../src/schemas/schema.ts';
import type { ProcessedClaim, ProcessedRecord } from '../../../src/store/derived/processed-record.ts';

const maker = { environmentId: 'env', name: 'page' };

function entity(fields: Partial<StoredEntity>): StoredEntity {
  return {
    sourceId: 's',
    originId: '1',
    type: 'page',
    url: '/a',
    originParentId: null,
    redirects: [],
    properties: {},
    stamp: 10,
    bornStamp: 10,
    urlStamp: 10,
    ...fields,
  };
}

/** The life of one entity: each state is processed with the result of the previous one. */
class Life {
  record: ProcessedRecord | null = null;

  process(
    state: StoredEntity,
    claims: ViewClaims,
    alias = 'page',
    others: readonly string[] = [],
    urlForm: UrlForm = 'exact',
  ): ProcessedClaim[] {
    const turn = { former: this.record, entity: state, urlForm } as Parameters<typeof formerClaims>[0];
    const made = [alias, ...others].map((name) => ({
      kind: 'view' as const,
      environmentId: 'env',
      name,
      schemaDigest: '',
      bytesDigest: Buffer.alloc(8),
      claims: claimsOf(state, claims, formerClaims(turn, { ...maker, name }), urlForm),
      dependsOn: [],
    }));
    this.record = { stamp: state.stamp, type: state.type, lookups: [], outputs: made };
    return made[0]?.claims ?? [];
  }
}

const own = (state: StoredEntity): ViewClaims => ({ url: state.url, handles: [] });

function since(claims: readonly ProcessedClaim[], display: string): number | undefined {
  return claims.find((claim) => claim.display === display)?.sinceStamp;
}

test('view claims: a view claims its URL, its handles, and the redirects of its entity', () => {
  const none: FormerClaims = { ofView: new Map(), ofOtherViews: new Map(), processed: null, published: null };
  const state = entity({ url: '/a/', redirects: ['/old', 'https://x.com/old', '/a', '/old?q', 'nonsense'] });
  const claims = claimsOf(state, { url: '/a/', handles: ['news', 'home'] }, none, 'exact');
  assert.deepEqual(
    claims.map(({ field, host, kind, display, redirect }) => [field, host, kind, display, redirect]),
    [
      ['h:news', null, 'page', 'news', null],
      ['h:home', null, 'page', 'home', null],
      ['u:/a', null, 'page', '/a/', null],
      ['u:/old', null, 'redirect', '/old', '/a/'],
      ['u:/old', 'x.com', 'redirect', 'https://x.com/old', '/a/'],
      ['u:/old?q=', null, 'redirect', '/old?q', '/a/'],
    ],
  );
});

test('view claims: a view without its own URL has no redirects; an invalid URL claims nothing', () => {
  const none: FormerClaims = { ofView: new Map(), ofOtherViews: new Map(), processed: null, published: null };
  const state = entity({ redirects: ['/old'] });
  assert.deepEqual(claimsOf(state, { url: null, handles: [] }, none, 'exact'), []);
  assert.deepEqual(claimsOf(state, { url: 'no url', handles: [] }, none, 'exact'), []);
});

test('view claims: a claim keeps its age through later changes', () => {
  const life = new Life();
  const claims = { url: '/a', handles: ['news'] };
  life.process(entity({ redirects: ['/old'] }), claims);
  const later = life.process(entity({ stamp: 20, redirects: ['/old', '/new'] }), claims);
  assert.deepEqual(
    ['/a', 'news', '/old', '/new'].map((display) => since(later, display)),
    [10, 10, 10, 20],
  );
});

test('view claims: a claim that was dropped and added again starts with a new age', () => {
  const life = new Life();
  for (const [stamp, url, expected] of [
    [10, '/a', 10],
    [20, '/b', 20],
    [30, '/a', 30],
  ] as const) {
    const state = entity({ stamp, url, urlStamp: stamp });
    assert.equal(since(life.process(state, own(state)), url), expected);
  }
});

test('view claims: a URL that changed and changed back between two turns starts with a new age, once', () => {
  const life = new Life();
  const first = entity({});
  life.process(first, own(first));
  const back = entity({ stamp: 30, urlStamp: 30 });
  assert.equal(since(life.process(back, own(back)), '/a'), 30);
  const later = entity({ stamp: 40, urlStamp: 30 });
  assert.equal(since(life.process(later, own(later)), '/a'), 30);
});

test('view claims: a URL that moves from another view into the URL of the entity keeps its age', () => {
  const life = new Life();
  life.process(entity({ url: '/b' }), { url: '/a', handles: [] }, 'alternative');
  const moved = entity({ stamp: 20, urlStamp: 20 });
  assert.equal(since(life.process(moved, own(moved)), '/a'), 10);
});

test('view claims: another notation of the same URL keeps the age, in that turn and all later ones', () => {
  const life = new Life();
  const first = entity({});
  life.process(first, own(first));
  const rewritten = entity({ stamp: 20, url: '/a/', urlStamp: 20 });
  assert.equal(since(life.process(rewritten, own(rewritten)), '/a/'), 10);
  assert.equal(since(life.process(rewritten, own(rewritten)), '/a/'), 10, 'a rebuild changes nothing');
  const later = entity({ stamp: 30, url: '/a/', urlStamp: 20 });
  assert.equal(since(life.process(later, own(later)), '/a/'), 10);
});

test('view claims: after a delete and a new ingest claims have a new age', () => {
  const life = new Life();
  const claims = { url: '/a', handles: ['news'] };
  life.process(entity({ redirects: ['/old'] }), claims);
  const reborn = entity({ stamp: 50, bornStamp: 40, urlStamp: 40, redirects: ['/old'] });
  const made = life.process(reborn, claims);
  assert.deepEqual(
    ['/a', 'news', '/old'].map((display) => since(made, display)),
    [40, 40, 40],
  );
});

test('view claims: an entity that changed before its first turn claims since its creation', () => {
  const life = new Life();
  const state = entity({ stamp: 30, bornStamp: 10, urlStamp: 10 });
  const made = life.process(state, { url: '/a', handles: ['news'] });
  assert.deepEqual([since(made, '/a'), since(made, 'news')], [10, 10]);
  const moved = new Life().process(entity({ stamp: 30, urlStamp: 20 }), { url: '/a', handles: [] });
  assert.equal(since(moved, '/a'), 20);
});

test('view claims: an entity that changes its type keeps its claims through another view', () => {
  const life = new Life();
  const first = entity({});
  life.process(first, { url: '/a', handles: ['news'] }, 'page');
  const forced = entity({ stamp: 20, type: 'article' });
  const made = life.process(forced, { url: '/a', handles: ['news'] }, 'article');
  assert.deepEqual([since(made, '/a'), since(made, 'news')], [10, 10]);
});

test('view claims: an entity whose new type is the first to claim its URL claims it since then', () => {
  const life = new Life();
  const note = entity({ type: 'note' });
  life.process(note, { url: null, handles: [] });
  const page = entity({ stamp: 20, type: 'page' });
  assert.equal(since(life.process(page, own(page)), '/a'), 20);
});

test('view claims: a schema that starts to claim URLs orders them by the age of the URLs', () => {
  const life = new Life();
  const state = entity({ stamp: 30, urlStamp: 15 });
  life.process(state, { url: null, handles: [] });
  assert.equal(since(life.process(state, own(state)), '/a'), 15);
});

test('view claims: making the claims of one state twice changes nothing', () => {
  const life = new Life();
  const claims = { url: '/a', handles: ['news', 'x'] };
  life.process(entity({}), claims);
  const state = entity({ stamp: 20, urlStamp: 20, redirects: ['/old', '/older'] });
  const once = life.process(state, claims, 'page', ['card']);
  assert.deepEqual(life.process(state, claims, 'page', ['card']), once);
});

test('view claims: a claim keeps its age when the URLs of its tenant change their form, in both directions', () => {
  const life = new Life();
  const state = (stamp: number) => entity({ url: '/About', redirects: ['/Old', '/OLD', '/about'], stamp });
  const born = life.process(state(10), own(state(10)));
  assert.deepEqual(
    born.map(({ field }) => field),
    ['u:/About', 'u:/Old', 'u:/OLD', 'u:/about'],
  );
  life.process({ ...state(20), urlStamp: 10 }, own(state(20)));
  const folded = life.process({ ...state(20), urlStamp: 10 }, own(state(20)), 'page', [], 'folded');
  assert.deepEqual(
    folded.map(({ field, display, sinceStamp }) => [field, display, sinceStamp]),
    [
      ['i:/about', '/About', 10],
      ['i:/old', '/Old', 10],
    ],
  );
  life.process({ ...state(30), urlStamp: 10 }, own(state(30)), 'page', [], 'folded');
  const exact = life.process({ ...state(30), urlStamp: 10 }, own(state(30)), 'page');
  assert.deepEqual(
    exact.map(({ field, sinceStamp }) => [field, sinceStamp]),
    [
      ['u:/About', 10],
      ['u:/Old', 10],
      ['u:/OLD', 10],
      ['u:/about', 30],
    ],
    'a redirect that was the page itself in lower case gets a new age',
  );
});

test('view claims: the age of a claim starts when its entity is published', () => {
  const claims = { url: '/a', handles: ['news'] };
  const at = (ms: number) => ms * 1000;
  const times = (publishAt: number | null, unpublishAt: number | null = null) => ({ publishAt, unpublishAt });
  const born = { bornStamp: at(10), urlStamp: at(10) };
  /** The last result for an unpublished state, or for a published one. */
  const recordOf = (stamp: number, state: PublishState, of: PublishTimes): ProcessedRecord => ({
    stamp,
    type: 'page',
    lookups: [],
    outputs: [],
    times: { ...of, state, isBySchedule: false },
  });
  const ages = (record: ProcessedRecord | null, state: Partial<StoredEntity>) => {
    const life = new Life();
    life.record = record;
    const made = life.process(entity({ ...born, ...state }), claims);
    return ['/a', 'news'].map((display) => (since(made, display) ?? 0) / 1000);
  };
  const waiting = recordOf(at(10), 'waiting', times(50));
  assert.deepEqual(ages(waiting, { stamp: at(10), times: times(50) }), [50, 50], 'its time');
  assert.deepEqual(
    ages(null, { stamp: at(10), times: times(50) }),
    [50, 50],
    'not processed while it waited',
  );
  assert.deepEqual(ages(waiting, { stamp: at(30) }), [30, 30], 'a save that clears its time');
  assert.deepEqual(ages(waiting, { stamp: at(30), times: times(20) }), [30, 30], 'a save with a past time');
  assert.deepEqual(ages(waiting, { stamp: at(60), times: times(50) }), [50, 50], 'a save after its time');
  assert.deepEqual(
    ages(waiting, { stamp: at(60), urlStamp: at(60) }),
    [60, 50],
    'a save that changes its URL',
  );
  assert.deepEqual(
    ages(waiting, { stamp: at(60), times: times(70) }),
    [70, 70],
    'a save that schedules it again',
  );
  const over = recordOf(at(10), 'over', times(null, 20));
  assert.deepEqual(ages(over, { stamp: at(30) }), [30, 30], 'a save after its end');
  const restored = { ...waiting, stamp: at(10) + 0.5 };
  assert.deepEqual(ages(restored, { stamp: at(10), times: times(50) }), [50, 50], 'due before a restore');

  const life = new Life();
  life.process(entity({ ...born, stamp: at(10) }), claims);
  const kept = life.process(entity({ ...born, stamp: at(30), times: times(20) }), claims);
  assert.deepEqual(
    kept.map(({ sinceStamp }) => sinceStamp / 1000),
    [10, 10],
    'it was published all the time',
  );
});
