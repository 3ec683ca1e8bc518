import assert from 'node:assert/strict';
import { appendFileSync, cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { runSync } from '../../../../src/lib/cooperative-yield.ts';
import {
  codeDigest,
  openSnapshot,
  type SnapshotHead,
  writeSnapshot,
} from '../../../../src/query/worker/snapshots/snapshot-file.ts';
import { SnapshotFolder } from '../../../../src/query/worker/snapshots/snapshot-folder.ts';
import type { IndexItem } from '../../../../src/search/shard/doc-table.ts';
import { Shard } from '../../../../src/search/shard/shard.ts';
import { SnapshotDamagedError } from '../../../../src/search/snapshot/parts.ts';
import { allTypes, type Change, changes, query } from '../../../search/support/arbitraries.ts';
import { queryOf } from '../../../search/support/checks.ts';
import { searchIn } from '../../../search/support/searches.ts';
import { applyTo, applyToMap, assertAsScan } from '../../../search/support/shards.ts';
import { runs } from '../../../support/runs.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'millrace-snapshots-'));
after(() => rmSync(folder, { recursive: true }));
const file = path.join(folder, 'a.snapshot');
const runCount = runs(40);
const never = () => false;

/** Length and digest. */
const frameHeadBytes = 4 + 32;

/** The bytes of a snapshot with a word that no other snapshot contains. */
async function wholeSnapshot(word: string): Promise<Buffer> {
  const shard = new Shard({ fields: new Map([['text', 'text']]) });
  shard.upsert({ partition: 0, sourceId: 's', originId: 'o', updatedAtMs: 1, fields: { text: word } });
  const ofWord = `${file}.${word}`;
  await writeSnapshot(ofWord, headOf(shard), shard.parts(), never);
  const bytes = await readFile(ofWord);
  rmSync(ofWord);
  return bytes;
}

function headOf(shard: Shard): SnapshotHead {
  return { identity: 'test', fields: shard.fieldTypes };
}

async function restored(): Promise<Shard> {
  const { head, parts, close } = await openSnapshot(file);
  try {
    const shard = new Shard({ fields: new Map(head.fields) });
    await shard.restore(parts);
    return shard;
  } finally {
    await close();
  }
}

/**
 * What a load does: each current item is confirmed or put, and items that were not found are removed.
 * @returns how many were confirmed
 */
function load(shard: Shard, items: Iterable<IndexItem>): number {
  let confirmed = 0;
  for (const item of items) {
    const now = JSON.stringify(item.fields);
    const isSame = shard.confirm(item, (text) => (text.toString() === now ? item.updatedAtMs : null));
    if (isSame) confirmed += 1;
    else shard.upsert(item);
  }
  runSync(shard.dropUnconfirmed());
  return confirmed;
}

function playAll(shard: Shard, items: Map<string, IndexItem>, history: readonly Change[]): void {
  for (const change of history) {
    applyTo([shard], change);
    applyToMap(items, change);
  }
}

test('snapshot file: a shard from a snapshot answers every query like a scan of all items, whatever changed before, during and after', async () => {
  await fc.assert(
    fc.asyncProperty(
      changes,
      changes,
      changes,
      fc.array(query, { minLength: 1, maxLength: 6 }),
      async (before, meanwhile, later, bodies) => {
        const first = new Shard({ fields: allTypes });
        const items = new Map<string, IndexItem>();
        playAll(first, items, before);
        assert.equal(await writeSnapshot(file, headOf(first), first.parts(), never), true);
        for (const change of meanwhile) applyToMap(items, change);
        const shard = await restored();
        assert.equal(shard.hasUnconfirmed, first.size > 0);
        load(shard, items.values());
        assert.equal(shard.hasUnconfirmed, false);
        const answersAs = () => {
          assert.equal(shard.size, items.size);
          for (const body of bodies) assertAsScan([shard], items, body, 1000);
        };
        answersAs();
        playAll(shard, items, later);
        answersAs();
      },
    ),
    { numRuns: runCount },
  );
});

test('snapshot file: unchanged items are taken from the snapshot, after thousands were added, changed and removed', async () => {
  const shard = new Shard({ fields: allTypes });
  const items = new Map<string, IndexItem>();
  const put = (number: number, round: number) => {
    const fields = {
      text: `word${number % 700} other${round} w${number}`,
      'keyword[]': [`t${number % 9}`, `r${round}`],
    };
    const item = { partition: 0, sourceId: 's', originId: `o${number}`, updatedAtMs: round, fields };
    shard.upsert(item);
    items.set(item.originId, item);
  };
  for (let number = 0; number < 6_000; number += 1) put(number, 0);
  for (let number = 0; number < 4_000; number += 3) put(number, 1);
  for (let number = 0; number < 3_000; number += 2) {
    shard.remove('s', `o${number}`);
    items.delete(`o${number}`);
  }
  await writeSnapshot(file, headOf(shard), shard.parts(), never);
  const again = await restored();
  assert.equal(load(again, items.values()), items.size);
  for (let number = 0; number < 6_000; number += 1) {
    const filters = { and: [{ field: 'keyword[]', operator: 'equals', value: 'r1' }] };
    const search = searchIn('text', `w${number}`, { literal: true });
    const { total } = again.query({ ...queryOf({ filters }), search });
    const item = items.get(`o${number}`);
    assert.equal(total, item?.updatedAtMs === 1 ? 1 : 0, `o${number}`);
  }
});

test('snapshot file: a snapshot that is damaged or truncated anywhere is rejected', async () => {
  const shard = new Shard({ fields: allTypes });
  for (let number = 0; number < 40; number += 1) {
    const fields = {
      text: `some wörds 中文 ${number}`,
      'keyword[]': [`k${number}`],
      long: number,
      boolean: true,
    };
    shard.upsert({ partition: 0, sourceId: 's', originId: `o${number}`, updatedAtMs: 1, fields });
  }
  await writeSnapshot(file, headOf(shard), shard.parts(), never);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const made = path.join(path.dirname(file), 'made');
  const goneWorkers = async () => () => false;
  await new SnapshotFolder({
    folder: made,
    secret: Buffer.from('s'),
    workerId: 'w',
    set: 'owned',
    goneWorkers,
  }).make();
  assert.equal((await stat(made)).mode & 0o777, 0o700, 'nobody else can access the folder');
  rmSync(made, { recursive: true });
  const whole = await readFile(file);
  await restored();
  const places = Array.from({ length: 100 }, (_, at) => Math.floor((at * whole.length) / 100));
  for (const place of [...Array(80).keys(), ...places, whole.length - 1]) {
    const damaged = Buffer.from(whole);
    damaged[place] = (damaged[place] ?? 0) ^ (1 << (place % 8));
    writeFileSync(file, damaged);
    await assert.rejects(restored(), SnapshotDamagedError, `byte ${place} flipped`);
    writeFileSync(file, whole.subarray(0, place));
    await assert.rejects(restored(), SnapshotDamagedError, `truncated at ${place}`);
  }
});

test('snapshot file: a file that begins as one snapshot and continues as another is rejected, wherever it switches', async () => {
  const [one, other] = await Promise.all(['one', 'two'].map(wholeSnapshot));
  assert.ok(one !== undefined && other !== undefined);
  assert.equal(one.length, other.length);
  let mixed = 0;
  for (let at = 0; at < one.length; at += frameHeadBytes + one.readUInt32LE(at)) {
    const bytes = Buffer.concat([one.subarray(0, at), other.subarray(at)]);
    if (bytes.equals(one) || bytes.equals(other)) continue;
    mixed += 1;
    writeFileSync(file, bytes);
    await assert.rejects(restored(), SnapshotDamagedError, `from byte ${at} on it is another one`);
  }
  assert.ok(mixed > 10, `${mixed} mixed files`);
});

test('snapshot file: a snapshot of a shard that changes meanwhile is not written, and leaves no file', async () => {
  rmSync(file, { force: true });
  const shard = new Shard({ fields: allTypes });
  let looks = 0;
  const isStale = () => {
    looks += 1;
    return looks > 20;
  };
  assert.equal(await writeSnapshot(file, headOf(shard), shard.parts(), isStale), false);
  assert.deepEqual(readdirSync(folder), []);
});

const repository = fileURLToPath(new URL('../../../../', import.meta.url));
const copy = mkdtempSync(path.join(tmpdir(), 'millrace-code-'));
after(() => rmSync(copy, { recursive: true }));
for (const part of ['package.json', 'src']) {
  cpSync(path.join(repository, part), path.join(copy, part), { recursive: true });
}

test('snapshot file: other code of the search, or of anything that it runs, invalidates a snapshot', () => {
  assert.equal(codeDigest(copy), codeDigest());
  const files = ['search/analysis/words.ts', 'contract/limits.ts', 'lib/code-points.ts', '../package.json'];
  for (const file of files) {
    const before = codeDigest(copy);
    appendFileSync(path.join(copy, 'src', file), ' ');
    assert.notEqual(codeDigest(copy), before, file);
  }
});

test('snapshot file: changes to code that only stores or serves items do not invalidate snapshots', () => {
  const before = codeDigest(copy);
  for (const file of ['http/query/query.ts', 'store/keys.ts']) {
    appendFileSync(path.join(copy, 'src', file), ' ');
    assert.equal(codeDigest(copy), before, file);
  }
});
