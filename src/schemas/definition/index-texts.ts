import type { Cursor } from '../../contract/config-cursor.ts';
import { listOf, objectOf } from '../../contract/document-shape.ts';
import {
  keptCharactersMax,
  searchCodePointsMax,
  synonymEntriesMax,
  synonymTextsMax,
} from '../../contract/limits.ts';
import { anyString } from '../../contract/shape.ts';
import { countCodePoints } from '../../lib/code-points.ts';
import { adviceForUnknown } from '../../lib/suggest.ts';

/** Languages of text fields (ISO 639-1) whose words are stemmed (docs/reference/indexes-and-queries.md "Words of a field"). */
export const languages = ['da', 'de', 'en', 'es', 'fi', 'fr', 'it', 'nl', 'no', 'pt', 'sv'] as const;

export type Language = (typeof languages)[number];

/** True to drop accents. With a language, its letters are first replaced: ö by oe. */
export type Folding = boolean | 'de' | 'da';

/** How the words of a text field are analyzed. */
export interface TextRules {
  readonly language: Language | null;
  readonly foldAccents: Folding;
  /** Additional characters that count as letters. */
  readonly keep?: string;
  /** Absent for plain text. */
  readonly format?: 'html';
}

/** A search for any of `from` also finds each of `to`. */
export interface Synonym {
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/** Options of an index schema for text analysis. */
export interface IndexTexts {
  /** Rules of the fields that have options. */
  readonly rules: ReadonlyMap<string, TextRules>;
  readonly synonyms: readonly Synonym[];
}

/** True if both give the same words. */
export function sameTexts(a: IndexTexts, b: IndexTexts): boolean {
  const text = ({ rules, synonyms }: IndexTexts) => JSON.stringify([[...rules].sort(), synonyms]);
  return a === b || text(a) === text(b);
}

/**
 * Reads `language`, `foldAccents`, `keep` and `format` of each field in `index.fields`, and `index.synonyms`
 * (docs/reference/indexes-and-queries.md "Words of a field"). `readIndexFields` reads the types.
 */
export function readIndexTexts(at: Cursor): IndexTexts {
  const rules = new Map<string, TextRules>();
  const fields = at.member('fields');
  for (const name of fields.names()) {
    const field = fields.member(name);
    const keep = readKeep(field.member('keep'));
    const read: TextRules = {
      language: readLanguage(field.member('language')),
      foldAccents: readFold(field),
      ...(keep !== '' && { keep }),
      ...(isHtml(field.member('format')) && { format: 'html' }),
    };
    refuseOtherTypes(field);
    const says = read.language !== null || read.foldAccents !== false || Object.keys(read).length > 2;
    if (says) rules.set(name, read);
  }
  return { rules, synonyms: readSynonyms(at.member('synonyms')) };
}

function readLanguage(at: Cursor): Language | null {
  if (at.isAbsent) return null;
  const text = at.text(`Write one of ${languages.join(', ')}.`);
  if (text === null) return null;
  const known = languages.find((language) => language === text);
  if (known === undefined) {
    at.issue(`there is no language ${JSON.stringify(text)}`, () => adviceForUnknown(text, languages));
  }
  return known ?? null;
}

function readFold(field: Cursor): Folding {
  const at = field.member('foldAccents');
  if (at.json === undefined || typeof at.json === 'boolean') return at.json ?? false;
  if (at.json === 'de' || at.json === 'da') return at.json;
  at.mustBe(
    'true, false, "de" or "da"',
    'Write true to drop accents, or "de" or "da" to write out ä ö ü å æ ø.',
  );
  return false;
}

const keepAdvice = 'Write the characters one after the other, such as "+#".';
/** Spaces separate the words of phrases, and invisible characters are removed from texts. */
const keepsNot = /[\s\p{C}\p{Z}\p{DI}\p{M}]/u;

/** Sorted by code point, so that the order in the schema does not change the index. */
function readKeep(at: Cursor): string {
  if (at.isAbsent) return '';
  const text = at.nonEmptyString();
  if (text === null) return '';
  const count = countCodePoints(text);
  if (count > keptCharactersMax) {
    at.issue(`has ${count} characters; at most ${keptCharactersMax} are allowed`, 'Leave some out.');
    return '';
  }
  if (keepsNot.test(text) || !text.isWellFormed()) {
    at.issue('contains a space, a mark or an invisible character', keepAdvice);
    return '';
  }
  return [...new Set(text)].sort().join('');
}

function isHtml(at: Cursor): boolean {
  if (at.isAbsent) return false;
  if (at.json !== 'html') at.mustBe('"html"', 'Leave it out for plain text.');
  return at.json === 'html';
}

function refuseOtherTypes(field: Cursor): void {
  const { json: type } = field.member('type');
  if (type === 'text' || type === 'text[]' || type === undefined) return;
  for (const name of ['language', 'foldAccents', 'keep', 'format']) {
    const at = field.member(name);
    if (!at.isAbsent)
      at.issue(`${name} needs a field of type text or text[]`, 'Remove it, or change the type.');
  }
}

function readSynonyms(at: Cursor): Synonym[] {
  const entries = at.items('a list of synonyms', 'Write [["tv", "television"]].');
  if (entries.length > synonymEntriesMax) {
    at.issue(`${entries.length} entries; at most ${synonymEntriesMax} are allowed`, 'Leave some out.');
    return [];
  }
  return entries.map(readSynonym);
}

const synonymTextsShape = listOf(anyString, { minItems: 1, maxItems: synonymTextsMax });
const synonymShape = objectOf({ from: anyString, to: synonymTextsShape }, ['from', 'to']);

export const synonymsShape = listOf(
  { anyOf: [synonymTextsShape, synonymShape] },
  { maxItems: synonymEntriesMax },
);

const advice = 'Write ["tv", "television"] or {"from": "tv", "to": ["television"]}.';

function readSynonym(at: Cursor): Synonym {
  if (Array.isArray(at.json)) {
    const texts = readTexts(at);
    return { from: texts, to: texts };
  }
  if (at.object(synonymShape) === null) return { from: [], to: [] };
  return { from: readText(at.member('from')), to: readTexts(at.member('to')) };
}

function readTexts(at: Cursor): string[] {
  if (at.isAbsent) at.mustBe('a list of strings', advice);
  const texts = at.items('a list of strings', advice);
  if (Array.isArray(at.json) && texts.length === 0) at.issue('has no strings', advice);
  if (texts.length > synonymTextsMax) {
    at.issue(`${texts.length} strings; at most ${synonymTextsMax} are allowed`, 'Use several entries.');
    return [];
  }
  return texts.flatMap(readText);
}

function readText(at: Cursor): string[] {
  const text = at.text(advice);
  if (text === null) return [];
  if (!/[\p{L}\p{M}\p{Nd}]/u.test(text.normalize('NFKC')))
    at.issue('has no words', 'Write one word or more.');
  if (countCodePoints(text) > searchCodePointsMax) {
    at.issue(`has more than ${searchCodePointsMax} characters`, 'A search cannot be longer.');
  }
  return [text];
}
