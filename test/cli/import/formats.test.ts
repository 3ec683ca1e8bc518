import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { csvReader, formatOf, type MappedName, readJsonArray } from '../../../src/cli/import/formats.ts';
import { readNdjson } from '../../../src/cli/import/import-lines.ts';
import { type EntityRecord, type Failure, isFailure } from '../../../src/cli/import/records.ts';
import { CommandStop } from '../../../src/cli/terminal/command-line.ts';
import { runs } from '../../support/runs.ts';

const numRuns = runs(200);

async function* cut(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let start = 0, turn = 0; start < bytes.length; turn += 1) {
    const end = start + (sizes[turn % sizes.length] ?? 1);
    yield bytes.subarray(start, end);
    start = end;
  }
}

async function all(
  records: AsyncIterable<readonly (EntityRecord | Failure)[]>,
): Promise<(EntityRecord | Failure)[]> {
  const found: (EntityRecord | Failure)[] = [];
  for await (const group of records) found.push(...group);
  return found;
}

/** Line and text of each record, line and errors of each failure. */
function shown(found: readonly (EntityRecord | Failure)[]): (readonly [number, unknown])[] {
  return found.map((one) =>
    isFailure(one) ? ([one.line, one.errors] as const) : ([one.line, one.bytes.toString()] as const),
  );
}

async function json(text: string, sizes: readonly number[] = [1000]) {
  return shown(await all(readJsonArray(cut(Buffer.from(text), sizes))));
}

async function csv(
  text: string | Buffer,
  map: [MappedName, string][] = [],
  type: string | null = null,
  sizes = [7],
) {
  return shown(await all(csvReader({ map: new Map(map), type })(cut(Buffer.from(text), sizes))));
}

async function stopText(running: Promise<unknown>): Promise<string> {
  try {
    await running;
  } catch (error) {
    assert.ok(error instanceof CommandStop, String(error));
    return error.message;
  }
  return assert.fail('nothing was wrong');
}

test('formatOf: derives the format from the name, compressed or not', () => {
  const names = [
    'a.csv',
    'b.CSV.gz',
    'c.json',
    'd.json.gz',
    'e.ndjson',
    'f.ndjson.gz',
    '-',
    'csv',
    'g.json.txt',
  ];
  assert.deepEqual(names.map(formatOf), [
    'csv',
    'csv',
    'json',
    'json',
    'ndjson',
    'ndjson',
    'ndjson',
    'ndjson',
    'ndjson',
  ]);
});

test('readJsonArray: yields the text of each item with its first line, however the bytes are split', async () => {
  const text =
    '\ufeff[\n {"originId": "a", "n": 9007199254740993},\n\n {"originId":\n "b"}\n, {"originId": "c"}]\n';
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), async (sizes) => {
      assert.deepEqual(await json(text, sizes), [
        [2, '{"originId": "a", "n": 9007199254740993}'],
        [4, '{"originId":\n "b"}'],
        [6, '{"originId": "c"}'],
      ]);
    }),
    { numRuns: runs(50) },
  );
});

test('readJsonArray: an item that is not JSON fails with its position in the file and stops nothing', async () => {
  assert.deepEqual(await json('[{"é": 1}, {"a": 1,},\n  {\n   "b": x}, 5, {}]'), [
    [1, '{"é": 1}'],
    [1, ['The entity is not JSON (line 1, column 20: expected a name in double quotes)']],
    [2, ['The entity is not JSON (line 3, column 9: expected a value)']],
    [3, ['The entity is not a JSON object']],
    [3, '{}'],
  ]);
});

test('readJsonArray: reports where a file stops being an array', async () => {
  for (const [text, place] of [
    ['[{}\n {}]', 'line 2, column 2: expected `,` or `]`'],
    ['[{},\n]', 'line 2, column 1: expected a value'],
    ['[{}] x', 'line 1, column 6: expected the end'],
    ['[{},\n{"a":', 'line 2, column 6: expected the rest of the item and `]`'],
    ['', 'line 1, column 1: expected `[`'],
    ['{"a": 1}', 'line 1, column 1: expected `[`'],
  ] as const) {
    assert.ok((await stopText(json(text, [3]))).includes(`(${place})`), text);
  }
  assert.match(await stopText(json('{}')), /For one entity per line, add --format ndjson$/);
});

test('readNdjson: a file that is one JSON array gets a hint at its first line', async () => {
  const read = async (text: string) => shown(await all(readNdjson(cut(Buffer.from(text), [1000]))));
  const advice = /\. For one JSON array, add --format json$/;
  for (const text of ['[\n{}\n]', '[{}, {}]']) {
    assert.match((await read(text))[0]?.[1]?.toString() ?? '', advice, text);
  }
  assert.doesNotMatch(JSON.stringify(await read('{}\n[]\n{')), advice);
});

test('csvReader: cells become strings at the paths in the names of their columns', async () => {
  const text =
    '\ufefforiginId,type,url,title,author.name,author.address.city,n\r\n' +
    'a,page,/a,"He said ""hi"",\r\ntwice",Ada,London,9007199254740993\r\n\r\nb,page,,Bé,,,\r\n';
  assert.deepEqual(await csv(text), [
    [
      2,
      '{"originId":"a","type":"page","url":"/a","properties":{"title":"He said \\"hi\\",\\r\\ntwice",' +
        '"author":{"name":"Ada","address":{"city":"London"}},"n":"9007199254740993"}}',
    ],
    [
      5,
      '{"originId":"b","type":"page","properties":{"title":"Bé","author":{"name":"","address":{"city":""}},"n":""}}',
    ],
  ]);
});

test('csvReader: --map and --type name what the first row does not', async () => {
  const text = 'id,slug,__proto__,title\n1,/one,x,One\n';
  const map: [MappedName, string][] = [
    ['originId', 'id'],
    ['url', 'slug'],
  ];
  assert.deepEqual(await csv(text, map, 'article'), [
    [2, '{"originId":"1","type":"article","url":"/one","properties":{"__proto__":"x","title":"One"}}'],
  ]);
  assert.match(await stopText(csv(text)), /^The first row has no column 'originId', only id, slug, /);
  assert.match(await stopText(csv(text, map)), /^The first row has no column 'type'.*--type TYPE\.$/);
  assert.match(await stopText(csv(text, [['originId', 'key']], 'x')), /^The first row has no column 'key'/);
});

test('csvReader: rejects names that would lose a column', async () => {
  for (const [row, expected] of [
    ['originId,a,a', "The first row has two columns 'a'."],
    ['originId,,a', "Column 2 of the first row needs a name, not ''."],
    ['originId,a.,b', "Column 2 of the first row needs a name, not 'a.'."],
    ['originId,a.b,a', "Column 'a' cannot be both a string and an object with 'a.b'. Rename one."],
  ] as const) {
    assert.equal(await stopText(csv(`${row}\n1,2,3\n`, [], 'x')), expected);
  }
});

test('csvReader: only a row of another length fails; an invalid quote ends the import with its line', async () => {
  assert.deepEqual(await csv('originId,a\n1,2\n3\n4,5,6\n7,8\n', [], 'x'), [
    [2, '{"originId":"1","type":"x","properties":{"a":"2"}}'],
    [3, ['The row has 1 cell, but the first row has 2']],
    [4, ['The row has 3 cells, but the first row has 2']],
    [5, '{"originId":"7","type":"x","properties":{"a":"8"}}'],
  ]);
  assert.match(
    await stopText(csv('originId,a\n1,"2\n', [], 'x')),
    /\(line 2: the opening `"` of a cell has no/,
  );
  assert.match(await stopText(csv('originId,a\n1,"2"3\n', [], 'x')), /\(line 2: expected `,` or the end of/);
  assert.match(
    await stopText(csv('originId,a\n1,2"\n', [], 'x')),
    /\(line 2: a `"` in a cell without quotes/,
  );
  assert.match(
    await stopText(csv(Buffer.from('originId\ncaf\xe9\n', 'latin1'), [], 'x')),
    /is not UTF-8 text/,
  );
});

test('csvReader: parses what was written, however the bytes are split', async () => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', 'é', '日'), maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(cell, cell), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      async (rows, sizes) => {
        const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
        const text = rows.map((row) => `${row.map(quoted).join(',')}\n`).join('');
        const found = await csv(`originId,a\n${text}`, [], 'x', sizes);
        assert.deepEqual(
          found.map(([, record]) => JSON.parse(String(record))),
          rows.map(([originId, a]) => ({ originId, type: 'x', properties: { a } })),
        );
      },
    ),
    { numRuns },
  );
});
