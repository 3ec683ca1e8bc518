import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pack, unpack } from '../../../src/store/codec/pack.ts';
import { packForLua } from '../../../src/store/redis/lua-list.ts';

test('Lua list: lists for scripts contain strings, bytes and numbers of any size', () => {
  const long = 'ü€😀'.repeat(5000);
  const packed = packForLua(['', long, Buffer.from('bytes'), [1, 2 ** 53 - 1, [], ['x']]]);
  assert.deepEqual(unpack(packed), ['', long, 'bytes', [1, 2 ** 53 - 1, [], ['x']]]);
});

test('Lua list: a list that cannot be packed leaves nothing in the next one', () => {
  assert.throws(() => packForLua(['first', null as never]), TypeError);
  assert.deepEqual(unpack(packForLua(['second'])), ['second']);
});

test('Lua list: a list for scripts is encoded in the shortest forms, like the packer of records does', () => {
  const sizes = [0, 1, 15, 16, 17, 31, 32, 33, 127, 128, 255, 256, 257, 65_535, 65_536];
  for (const size of sizes) {
    for (const unit of ['a', 'é', '€', '😀']) {
      const texts = [unit.repeat(size), `${unit}${'a'.repeat(size)}`];
      assert.ok(packForLua(texts).equals(pack(texts)), `${size} times ${unit}`);
      assert.ok(packForLua(texts.map((text) => Buffer.from(text))).equals(pack(texts)), `bytes of ${unit}`);
    }
    const list = Array.from({ length: size }, () => '');
    assert.ok(packForLua(list).equals(pack(list)), `a list of ${size}`);
  }
});
