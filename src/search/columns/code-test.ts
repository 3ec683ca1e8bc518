import type { Json } from '../../contract/json.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { Bitmap } from '../bitmap.ts';
import { type Condition, listedValues } from '../filter/condition.ts';
import type { PlainValue } from '../packed-values.ts';
import { compilePattern } from './pattern.ts';
import type { ValueDictionary } from './value-dictionary.ts';

/** The codes of a dictionary that a condition accepts: none, one, or those that pass a test. */
export type CodeTest =
  | { readonly kind: 'none' }
  | { readonly kind: 'one'; readonly code: number }
  | {
      readonly kind: 'some';
      readonly accepts: (code: number) => boolean;
      /** All accepted codes, distinct, if known. */
      readonly codes?: readonly number[];
    };

const none: CodeTest = { kind: 'none' };
/** The cost of reading a listed value, in units of the work budget. */
const unitsPerListed = 50;

/**
 * Compiles a condition on text or boolean values to a test of codes. Each distinct value is tested once, however many docs have
 * it. Ordering operators accept nothing here; `checkQuery` rejects them.
 */
export function* codeTest(
  dictionary: ValueDictionary,
  condition: Condition,
  isText: boolean,
): Steps<CodeTest> {
  const { operator, value } = condition;
  const caseInsensitive = condition.caseInsensitive && isText;
  if (operator === 'contains' && isText) return yield* patternTest(dictionary, value, caseInsensitive);
  if (operator !== 'equals' && operator !== 'in' && operator !== 'contains') return none;
  const values = listedValues(condition);
  return yield* caseInsensitive ? loweredTest(dictionary, values) : equalTest(dictionary, values);
}

function* equalTest(dictionary: ValueDictionary, values: readonly Json[]): Steps<CodeTest> {
  const codes = new Set<number>();
  for (const value of values) {
    const code = isPlain(value) ? dictionary.codeOf(value) : -1;
    if (code >= 0) codes.add(code);
    workBudget.units += unitsPerListed;
    if (workBudget.isOver()) yield;
  }
  return oneOf(dictionary, [...codes]);
}

/** @param codes each once */
function oneOf(dictionary: ValueDictionary, codes: readonly number[]): CodeTest {
  const [first] = codes;
  if (first === undefined) return none;
  if (codes.length === 1) return { kind: 'one', code: first };
  const accepted = new Bitmap(dictionary.codeCount);
  accepted.addAll(codes);
  return { kind: 'some', accepts: (code) => accepted.has(code), codes };
}

/** A case-insensitive test. Other values than texts are only tested if no text is listed. */
function* loweredTest(dictionary: ValueDictionary, values: readonly Json[]): Steps<CodeTest> {
  const lowered = new Set<string>();
  for (const value of values) {
    if (typeof value !== 'string') continue;
    lowered.add(value.toLowerCase());
    workBudget.units += unitsPerListed + value.length;
    if (workBudget.isOver()) yield;
  }
  if (lowered.size === 0) return yield* equalTest(dictionary, values);
  const [only] = lowered;
  if (lowered.size === 1 && only !== undefined) {
    const found = yield* amongCandidates(dictionary, [only], (code) => dictionary.loweredOf(code) === only);
    if (found !== null) return found;
  }
  return remembered(dictionary, (code) => lowered.has(dictionary.loweredOf(code)));
}

function* patternTest(dictionary: ValueDictionary, pattern: Json, caseInsensitive: boolean): Steps<CodeTest> {
  if (typeof pattern !== 'string') return none;
  if (!pattern.includes('*')) {
    return yield* caseInsensitive ? loweredTest(dictionary, [pattern]) : equalTest(dictionary, [pattern]);
  }
  const asked = caseInsensitive ? pattern.toLowerCase() : pattern;
  const matches = compilePattern(asked);
  const accepts = caseInsensitive
    ? (code: number) => matches(dictionary.loweredOf(code))
    : (code: number) => matches(String(dictionary.valueOf(code)));
  const found = yield* amongCandidates(dictionary, asked.split('*'), accepts);
  return found ?? remembered(dictionary, accepts);
}

/** A test of the codes whose values may contain all parts; null if testing all codes is as good. */
function* amongCandidates(
  dictionary: ValueDictionary,
  parts: readonly string[],
  accepts: (code: number) => boolean,
): Steps<CodeTest | null> {
  const candidates = yield* dictionary.codesWith(parts);
  if (candidates === null) return null;
  const codes = new Set<number>();
  for (const code of candidates) {
    if (dictionary.isUsed(code) && !codes.has(code) && accepts(code)) codes.add(code);
    workBudget.units += unitsPerListed;
    if (workBudget.isOver()) yield;
  }
  return oneOf(dictionary, [...codes]);
}

const unknown = 0;
const accepted = 1;
const refused = 2;

/** A test that caches its result for each code. */
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
