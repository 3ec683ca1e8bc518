/** Queries and items built to explode in time or memory, and members of queries that are completely invalid. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../src/contract/json.ts';
import { checkQuery, queryIdentity } from '../../src/search/check/query.ts';
import type { FieldType } from '../../src/search/fields/field-type.ts';
import { Shard } from '../../src/search/shard/shard.ts';
import type { ShardAnswer } from '../../src/search/shard-answer.ts';
import { awkwardTexts, prototypeNames } from './support/words.ts';

/**
 * Maximum processor time, which other work on the machine extends by half at most. The slowest query takes 0.6 s; quadratic
 * time or worse would take minutes.
 */
const promptMs = 3_000;

function prompt<T>(what: string, work: () => T): T {
  const before = process.cpuUsage();
  const result = work();
  const tookMs = process.cpuUsage(before).user / 1000;
  assert.ok(tookMs < promptMs, `${what} took ${Math.round(tookMs)} ms of processor time`);
  return result;
}

class Asked {
  readonly #shard: Shard;

  constructor(
    private readonly fields: ReadonlyMap<string, FieldType>,
    items: Iterable<JsonObject>,
  ) {
    this.#shard = new Shard({ fields });
    let number = 0;
    for (const item of items) {
      number += 1;
      this.#shard.upsert({
        partition: 0,
        sourceId: 's',
        originId: `o${number}`,
        updatedAtMs: 1,
        fields: item,
      });
    }
  }

  ask(body: Json): ShardAnswer {
    const check = checkQuery(body, { fields: this.fields, isOpen: false, isSchemaAlias: null });
    assert.ok(check.ok, JSON.stringify(check));
    queryIdentity(check.query);
    return this.#shard.query(check.query);
  }
}

test('queries: any value of a member is accepted or reported as an error, and nothing throws', () => {
  const fields = new Map<string, FieldType>([
    ['f', 'keywordText'],
    ['n', 'double'],
  ]);
  const odd: readonly string[] = [
    '{"toString":1,"valueOf":2}',
    '[[{"toString":null}]]',
    '{"__proto__":null}',
    '{"length":-1}',
    '{"toJSON":"x"}',
    'true',
    '-1',
    '0.5',
    '1e308',
    '"f"',
    '""',
    '[]',
    '{}',
  ];
  for (const value of odd) {
    const members = ['filters', 'search', 'facets', 'sort', 'pagination', 'aliases'].flatMap((name) => [
      `"${name}":${value}`,
      `"${name}":{"field":${value},"value":${value},"and":${value},"nextPageToken":${value},"page":${value}}`,
      `"${name}":{"field":"f","value":${value},"literal":${value},"or":${value},"pageSize":${value}}`,
      `"${name}":[{"field":${value},"order":${value},"size":${value},"name":${value}},${value}]`,
      `"${name}":{"and":[{"field":${value},"operator":${value},"value":${value}},${value},{"or":${value}}]}`,
      `"${name}":{"and":[{"field":"n","operator":"in","value":${value}},{"field":"f","operator":"contains","value":${value},"caseInsensitive":${value}}]}`,
    ]);
    for (const member of members) {
      for (const isOpen of [true, false]) {
        const body = JSON.parse(`{${member}}`) as Json;
        const check = checkQuery(body, { fields, isOpen, isSchemaAlias: () => false });
        if (check.ok) new Shard({ fields }).query(check.query);
        else assert.ok(check.errors.length > 0, member);
      }
    }
  }
});

test('queries: patterns that hang a backtracking matcher are matched quickly', () => {
  const values = Array.from({ length: 2_000 }, (_, number) => ({ f: `${'a'.repeat(500)}${number}` }));
  const index = new Asked(new Map([['f', 'keyword']]), values);
  const patterns = [
    '*a*a*a*b',
    `${'*a'.repeat(250)}*b`,
    `${'a*'.repeat(200)}`,
    '*'.repeat(1000),
    `*${'a'.repeat(499)}b*`,
  ];
  for (const value of patterns) {
    for (const caseInsensitive of [false, true]) {
      const filters = { and: [{ field: 'f', operator: 'contains', value, caseInsensitive }] };
      const { total } = prompt(value.slice(0, 20), () => index.ask({ filters }));
      assert.equal(total, /b\*?$/.test(value) ? 0 : 2_000, value.slice(0, 20));
    }
  }
});

test('queries: a hundred patterns, a thousand conditions and a hundred sort keys are answered quickly', () => {
  const fields = new Map<string, FieldType>([
    ['f', 'keyword'],
    ['n', 'double'],
  ]);
  const values = Array.from({ length: 20_000 }, (_, n) => ({ f: `value ${n} of many`, n }));
  const index = new Asked(fields, values);
  const pattern = (n: number) => ({
    field: 'f',
    operator: 'contains',
    value: `*${n}*o*f*${'m*'.repeat(20)}`,
  });
  const condition = (n: number) => ({ field: 'n', operator: 'greaterThan', value: n });
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
  prompt('patterns', () => index.ask({ filters: { or: numbers(100).map(pattern) } }));
  prompt('conditions', () => index.ask({ filters: { or: numbers(1000).map(condition) } }));
  prompt('in', () =>
    index.ask({ filters: { and: [{ field: 'f', operator: 'in', value: numbers(100_000).map(String) }] } }),
  );
  prompt('sorts', () =>
    index.ask({
      sort: numbers(100).map((n) => ({ field: n % 2 ? 'f' : 'n', order: n % 4 < 2 ? 'asc' : 'desc' })),
    }),
  );
  prompt('facets', () => index.ask({ facets: numbers(100).map(() => ({ field: 'f', size: 100 })) }));
});

test('queries: searches for only combining marks, and for words as long as a text, are answered quickly', () => {
  const marks = '\u0301'.repeat(255);
  const long = 'x'.repeat(100_000);
  const texts = [
    'a',
    marks,
    `a${marks}`,
    long,
    `${long}y`,
    '\u{1F468}\u200d'.repeat(100),
    'ﷺ'.repeat(50_000),
    'Ǆ'.repeat(256),
  ];
  const noise = Array.from({ length: 5_000 }, (_, n) => `a${'\u0301'.repeat(n % 250)}${n}`);
  const index = new Asked(
    new Map([['f', 'text']]),
    [...texts, ...noise].map((f) => ({ f })),
  );
  const words = [
    `a${marks}`,
    marks,
    'x'.repeat(256),
    `${'ab '.repeat(85)}`,
    'ﷺ'.repeat(256),
    'Ǆ'.repeat(256),
    '\u{10FFFF}'.repeat(256),
  ];
  for (const value of words) {
    for (const literal of [false, true]) {
      prompt(JSON.stringify(value.slice(0, 10)), () => index.ask({ search: { field: 'f', value, literal } }));
    }
  }
  assert.equal(index.ask({ search: { field: 'f', value: `a${marks}`, literal: true } }).total, 1);
});

test('queries: facets over 100,000 distinct values are counted quickly', () => {
  const count = 100_000;
  const items = Array.from({ length: count }, (_, n) => ({ f: `v${n}`, l: [`v${n}`, `w${n % 1000}`] }));
  const fields = new Map<string, FieldType>([
    ['f', 'keyword'],
    ['l', 'keyword[]'],
  ]);
  const index = new Asked(fields, items);
  const { total, facets } = prompt('facets', () =>
    index.ask({
      facets: [
        { field: 'f', size: 100 },
        { field: 'l', size: 100 },
      ],
      pagination: { pageSize: 0 },
    }),
  );
  assert.equal(total, count);
  assert.equal(facets.length, 2);
});

test('queries: awkward strings equal themselves, and nothing else', () => {
  const texts = [...new Set([...awkwardTexts, ...prototypeNames])];
  for (const type of ['keyword', 'text', 'keywordText', 'keyword[]'] as const) {
    const items = texts.map((text) => ({ f: type === 'keyword[]' ? [text] : text }));
    const index = new Asked(new Map<string, FieldType>([['f', type]]), items);
    for (const [at, value] of texts.entries()) {
      const filters = { and: [{ field: 'f', operator: 'equals', value }] };
      const { total, rows } = index.ask({ filters, facets: [{ field: 'f' }] });
      assert.equal(total, 1, `${type} ${JSON.stringify(value.slice(0, 50))}`);
      assert.equal(rows[0]?.place.originId, `o${at + 1}`);
    }
  }
});

test('queries: an item with very long lists is indexed and removed quickly', () => {
  const fields = new Map<string, FieldType>([
    ['l', 'keyword[]'],
    ['t', 'text[]'],
    ['d', 'double[]'],
  ]);
  const numbers = Array.from({ length: 200_000 }, (_, n) => n);
  const shard = new Shard({ fields });
  const item = { l: numbers.map(String), t: numbers.map((n) => `w${n} x`), d: numbers };
  for (const originId of ['a', 'b']) {
    prompt(`upsert ${originId}`, () =>
      shard.upsert({ partition: 0, sourceId: 's', originId, updatedAtMs: 1, fields: item }),
    );
  }
  prompt('remove', () => shard.remove('s', 'a'));
});
