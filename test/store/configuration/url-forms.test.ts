import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { UrlForm } from '../../../src/config/urls/url.ts';
import {
  exactUrls,
  formatUrlForms,
  isSettled,
  nextStep,
  parseUrlForms,
  type UrlFormState,
} from '../../../src/store/configuration/url-forms.ts';

test('URL forms: readers learn a form before claims use it, and still read it until claims have left it', () => {
  const steps: UrlFormState[] = [];
  for (let state = nextStep(exactUrls, 'folded'); state !== null; state = nextStep(state, 'folded'))
    steps.push(state);
  assert.deepEqual(steps, [
    { written: 'exact', read: ['exact', 'folded'] },
    { written: 'folded', read: ['exact', 'folded'] },
  ]);
});

test('URL forms: a conversion can be reversed halfway, and no claim is ever in a form that is not read', () => {
  const forms: readonly UrlForm[] = ['exact', 'folded'];
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...forms), fc.boolean()), { maxLength: 12 }), (wishes) => {
      let state = exactUrls;
      /** Forms that stored claims may have until all of them are converted. */
      let stored = new Set<UrlForm>(['exact']);
      for (const [wanted, isMovedToEnd] of wishes) {
        for (let next = nextStep(state, wanted); next !== null; next = nextStep(state, wanted)) {
          state = next;
          stored.add(state.written);
          for (const form of stored) assert.ok(state.read.includes(form), formatUrlForms(state));
        }
        assert.equal(state.written, wanted);
        assert.equal(state.read.at(-1), wanted, 'claims move to the form that is read last');
        if (!isMovedToEnd) continue;
        stored = new Set([wanted]);
        state = { written: wanted, read: [wanted] };
        assert.ok(isSettled(state, wanted));
      }
      assert.deepEqual(parseUrlForms(formatUrlForms(state)), state);
    }),
  );
});
