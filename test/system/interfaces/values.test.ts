/** docs/reference/http.md "Source entities" over HTTP: numbers that a double would change, and bodies without `properties`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indexOfTypes, QueryTenant } from '../support/query-tenant.ts';
import { sourceId, sourceKey } from '../support/site.ts';

const tenant = new QueryTenant('values', { indexes: { things: indexOfTypes({ big: 'double' }) } }, {});

const optional = new QueryTenant(
  'optional',
  {
    indexes: { things: indexOfTypes({ title: 'text' }) },
    settings: {
      sourceGroups: [
        {
          alias: 'cms',
          sources: [
            {
              id: sourceId,
              environments: ['production'],
              propertiesOptional: true,
              apiKeys: [`optional-${sourceKey}`],
            },
          ],
        },
      ],
    },
  },
  { full: { title: 'x' } },
);

const big = '9007199254740993';
const advice = /cannot hold exactly\. Send it as a string/;
const raw = { 'X-Service-Type': 'thing' };

/** JSON text, so that no number passes a double on its way. */
const sent = (text: string) => Buffer.from(text);

test('a number that a double cannot hold exactly is 422 on its property', async () => {
  for (const number of [big, `-${big}`, '12345678901234567890', `${big}.0`]) {
    const body = sent(`{"type":"thing","properties":{"ok":1,"deep":{"list":[0,${number}]}}}`);
    const { status, json } = await tenant.send('POST', '/ingest/v2/a', body);
    assert.equal(status, 422, number);
    assert.match(json.errors['properties.deep.list[1]'], advice);
    assert.ok(json.errors['properties.deep.list[1]'].includes(number));
  }
  const inRaw = await tenant.send('POST', '/ingest/v2/a', sent(`{"big":${big}}`), raw);
  assert.equal(inRaw.status, 422);
  assert.match(inRaw.json.errors['properties.big'], advice);
});

test('the property is the one that holds the number, also beside one that is held exactly', async () => {
  const body = sent(`{"exact":9007199254740992,"text":"${big}","big":${big}}`);
  const { status, json } = await tenant.send('POST', '/ingest/v2/a', body, raw);
  assert.equal(status, 422);
  assert.deepEqual(Object.keys(json.errors), ['properties.big']);
});

test('a number beyond 2^53 that is held exactly, and every digit of a string, are stored', async () => {
  const body = sent(`{"a":9007199254740992,"b":1e23,"c":-18014398509481984,"d":"${big}"}`);
  const { status, text } = await tenant.send('POST', '/ingest/v2/a', body, raw);
  assert.equal(status, 200, text);
});

test('bulk: only the entity with the number is refused, in small bodies and in large ones', async () => {
  const good = '{"originId":"good","type":"thing","properties":{"n":9007199254740992}}';
  for (const filler of ['', 'x'.repeat(100_000)]) {
    const bad = `{"originId":"bad","type":"thing","properties":{"filler":"${filler}","big":${big}}}`;
    const { status, json } = await tenant.send('POST', '/ingest/v2', sent(`[${good},${bad}]`));
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(json.errors), ['bad']);
    assert.match(json.errors.bad[0], advice);
  }
});

test('a large body of one entity is refused as a small one is', async () => {
  const body = sent(`{"filler":"${'x'.repeat(200_000)}","big":${big}}`);
  const { status, json } = await tenant.send('POST', '/ingest/v2/large', body, raw);
  assert.equal(status, 422);
  assert.match(json.errors['properties.big'], advice);
});

test('ingest v1 refuses the same numbers, also where they are written as strings of the type number', async () => {
  for (const value of [big, `"${big}"`]) {
    const body = sent(
      `{"id":"a","type":"thing","properties":{"list":{"type":"array","items":[{"type":"number","value":${value}}]}}}`,
    );
    const { status, json } = await tenant.send('POST', '/ingest/v1', body);
    assert.equal(status, 422, value);
    assert.match(
      json.errors['properties.list[0]'],
      /cannot hold exactly\. (Send it as a string|Use type string)/,
    );
  }
});

test('a body without properties is 422, unless its source has propertiesOptional: then it has none', async () => {
  const single = { type: 'thing' };
  const bulk = [
    { originId: 'full', type: 'thing', properties: { title: 'y' } },
    { originId: 'bare', type: 'thing' },
  ];
  const v1 = { id: 'v1', type: 'thing' };
  assert.match(
    (await tenant.send('POST', '/ingest/v2/bare', single)).json.errors.properties,
    /missing|required/,
  );
  assert.deepEqual(Object.keys((await tenant.send('POST', '/ingest/v2', bulk)).json.errors), ['bare']);
  assert.equal((await tenant.send('POST', '/ingest/v1', v1)).status, 422);

  assert.equal((await optional.send('POST', '/ingest/v2/single', single)).status, 200);
  const saved = await optional.send('POST', '/ingest/v2', bulk);
  assert.deepEqual(saved.json.changedSourceEntities, ['full', 'bare']);
  assert.equal((await optional.send('POST', '/ingest/v1', v1)).status, 200);
  const wrong = await optional.send('POST', '/ingest/v2/single', { type: 'thing', properties: [] });
  assert.equal(wrong.status, 422, 'what is there must be an object');
  await optional.settle();
  const { results } = await optional.good({ sort: [{ field: '_originId' }] });
  const shown = results.map(({ _originId, title }: { _originId: string; title?: string }) => [
    _originId,
    title,
  ]);
  assert.deepEqual(shown, [
    ['bare', undefined],
    ['full', 'y'],
    ['single', undefined],
    ['v1', undefined],
  ]);
});
