import type { Json } from '../../contract/json.ts';
import type { PlainValue, ValueDictionary } from '../columns/value-dictionary.ts';
import { compilePattern } from '../text/pattern.ts';
import { type Condition, listedValues } from './condition.ts';

/** Which codes of a dictionary a condition accepts: one, none, or those that pass. */
export type CodeTest =
  | { readonly kind: 'none' }
  | { readonly kind: 'one'; readonly code: number }
  | { readonly kind: 'some'; readonly accepts: (code: number) => boolean };

const none: CodeTest = { kind: 'none' };

/**
 * A condition on text or boolean values, as a test of codes: each distinct value is looked at once, however many docs
 * have it. Ordering operators hold for none (`checkQuery` refuses them).
 */
export function codeTest(dictionary: ValueDictionary, condition: Condition, isText: boolean): CodeTest {
  const { operator, value } = condition;
  const caseInsensitive = condition.caseInsensitive && isText;
  if (operator === 'contains' && isText) return patternTest(dictionary, value, caseInsensitive);
  if (operator !== 'equals' && operator !== 'in' && operator !== 'contains') return none;
  const values = listedValues(condition);
  return caseInsensitive ? loweredTest(dictionary, values) : equalTest(dictionary, values);
}

function equalTest(dictionary: ValueDictionary, values: readonly Json[]): CodeTest {
  const codes = new Set<number>();
  for (const value of values) {
    const code = isPlain(value) ? dictionary.codeOf(value) : undefined;
    if (code !== undefined) codes.add(code);
  }
  const [first] = codes;
  if (first === undefined) return none;
  if (codes.size === 1) return { kind: 'one', code: first };
  return { kind: 'some', accepts: (code) => codes.has(code) };
}

function loweredTest(dictionary: ValueDictionary, values: readonly Json[]): CodeTest {
  const texts = values.filter((value) => typeof value === 'string').map((text) => text.toLowerCase());
  if (texts.length === 0) return equalTest(dictionary, values);
  const lowered = new Set(texts);
  return remembered(dictionary, (code) => lowered.has(dictionary.loweredOf(code)));
}

function patternTest(dictionary: ValueDictionary, pattern: Json, caseInsensitive: boolean): CodeTest {
  if (typeof pattern !== 'string') return none;
  if (!pattern.includes('*')) {
    return caseInsensitive ? loweredTest(dictionary, [pattern]) : equalTest(dictionary, [pattern]);
  }
  if (caseInsensitive) {
    const matches = compilePattern(pattern.toLowerCase());
    return remembered(dictionary, (code) => matches(dictionary.loweredOf(code)));
  }
  const matches = compilePattern(pattern);
  return remembered(dictionary, (code) => matches(String(dictionary.valueOf(code))));
}

const unknown = 0;
const accepted = 1;
const refused = 2;

function remembered(dictionary: ValueDictionary, accepts: (code: number) => boolean): CodeTest {
  const verdicts = new Uint8Array(dictionary.codeCount);
  return {
    kind: 'some',
    accepts: (code) => {
      if (verdicts[code] === unknown) verdicts[code] = accepts(code) ? accepted : refused;
      return verdicts[code] === accepted;
    },
  };
}

function isPlain(value: Json): value is PlainValue {
  return typeof value !== 'object';
}
