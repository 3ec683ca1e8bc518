import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { positionIn } from '../../src/lib/json-syntax-error.ts';
import { itemPath, memberPath, memberStep, PositionCounter } from '../../src/lib/text-position.ts';
import { runs } from '../support/runs.ts';

const texts = fc.array(fc.constantFrom('a', '\n', 'é', 'жж', '😀', '\r\n', '[1]'), { maxLength: 40 });

test('text position: reports the position in the whole text, however it is split into pieces', () => {
  fc.assert(
    fc.property(
      texts,
      fc.boolean(),
      fc.nat(200),
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
      (parts, hasMark, before, sizes) => {
        const units = [...parts.join('')];
        const at = before % (units.length + 1);
        const first = `${hasMark ? '\ufeff' : ''}${units.slice(0, at).join('')}`;
        const bytes = Buffer.from(first + units.slice(at).join(''));
        const wantedByte = Buffer.byteLength(first);
        const position = new PositionCounter();
        let from = 0;
        for (let turn = 0; ; turn += 1) {
          const piece = bytes.subarray(from, from + (sizes[turn % sizes.length] ?? 1));
          if (wantedByte < from + piece.length || piece.length === 0) {
            const text = units.join('');
            assert.deepEqual(
              position.in(piece, wantedByte - from),
              positionIn(text, units.slice(0, at).join('').length),
            );
            return;
          }
          position.pass(piece);
          from += piece.length;
        }
      },
    ),
    { numRuns: runs(300) },
  );
});

test('text position: a plain name follows a dot, any other is quoted', () => {
  assert.equal(memberPath('$', 'domains'), '$.domains');
  assert.equal(itemPath('$.domains', 0), '$.domains[0]');
  assert.equal(memberPath('$', 'two words'), "$['two words']");
  assert.equal(memberStep("it's"), "['it\\'s']");
  assert.equal(memberStep('back\\slash'), "['back\\\\slash']");
});

test('text position: a position is one line, whatever a name contains', () => {
  assert.equal(memberPath('$', 'a\nb'), "$['a b']");
});
