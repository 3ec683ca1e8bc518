import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import { compilePath } from '../../../src/schemas/json-path/json-path.ts';
import { SchemaSyntaxError } from '../../../src/schemas/language/reader.ts';
import { Scope } from '../../../src/schemas/language/scope.ts';
import { frameOver } from '../support/fixtures.ts';

interface SuiteCase {
  readonly name: string;
  readonly selector: string;
  readonly document?: Json;
  readonly result?: Json[];
  readonly results?: Json[][];
  readonly invalid_selector?: boolean;
}

/** The JSONPath working group's own suite, which an installed library contains. */
const suiteFile =
  '../../../node_modules/jsonpath-rfc9535/src/__tests__/jsonpath-compliance-test-suite/cts.json';
const suite: { tests: SuiteCase[] } = JSON.parse(readFileSync(new URL(suiteFile, import.meta.url), 'utf8'));

/** Braces are holes in our strings, so those of the suite are doubled. */
function written(selector: string): string {
  return selector.replace(/[{}]/g, '$&$&');
}

test('suite: every valid path of the JSONPath compliance suite selects what RFC 9535 requires', () => {
  for (const { name, selector, document, result, results } of suite.tests) {
    if (document === undefined) continue;
    const found = finish(compilePath(written(selector), Scope.partial).list(frameOver(document)));
    const allowed = results ?? [result];
    const text = JSON.stringify(found);
    assert.ok(
      allowed.some((one) => JSON.stringify(one) === text),
      `${name}: ${selector} gave ${text}, not ${JSON.stringify(allowed)}`,
    );
  }
});

test('suite: every invalid path of the suite is rejected, unless only the leading `$` is missing', () => {
  for (const { name, selector, invalid_selector } of suite.tests) {
    if (invalid_selector !== true || !selector.startsWith('$')) continue;
    assert.throws(
      () => compilePath(written(selector), Scope.partial),
      SchemaSyntaxError,
      `${name}: ${selector}`,
    );
  }
});
