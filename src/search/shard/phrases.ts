/**
 * Applies phrases and exclusions. The inverted index has no word positions, so the texts of items that have all words of a
 * phrase are read.
 */
import type { Json } from '../../contract/json.ts';
import { type Steps, Suspended, workBudget } from '../../lib/cooperative-yield.ts';
import { sharedWords } from '../analysis/analyzer.ts';
import { textOfHtml } from '../analysis/html-text.ts';
import { PhraseFinder, phraseTerm } from '../analysis/phrase-terms.ts';
import { wordPieces } from '../analysis/words.ts';
import { Bitmap } from '../bitmap.ts';
import type { CheckedSearch, SearchOperators } from '../checked-query.ts';
import { sentValue } from '../fields/paths.ts';
import type { Scratch } from '../scratch.ts';
import type { FieldText } from '../text/field-text.ts';
import { type DocRun, docOf } from '../text/postings.ts';
import type { Found } from '../text/word-search.ts';
import type { Tables } from './tables.ts';

/** The cost of reading an item, in units of the work budget, besides its characters. */
const unitsPerItem = 1000;

/**
 * Applies the quotes and hyphens of a search to `scratch.hits`. Besides removing hits it can add some: a search by exclusions
 * alone starts from all docs, and so does one by phrases in mode `any`.
 */
export function* withOperators(
  found: Found,
  search: CheckedSearch,
  tables: Tables,
  scratch: Scratch,
): Steps<Found> {
  const { operators } = search;
  if (operators === null) return found;
  const { hits } = scratch;
  const known = new Bitmap(tables.docs.capacity);
  known.addAll(hits.subarray(0, found.count));
  const left = yield* matching(known, operators, search, tables);
  for (const text of operators.excluded) left.subtract(yield* docsWith(text, search, tables));
  const touched = found.touched === hits ? hits.slice(0, found.touchedCount) : found.touched;
  const count = left.list(hits);
  workBudget.units += count;
  const scoreOf = (doc: number) => (known.has(doc) ? found.scoreOf(doc) : 0);
  return { ...found, touched, count, scoreOf };
}

/** The matching docs before exclusions. With phrases, these determine the docs, unless every word must match. */
function* matching(
  known: Bitmap,
  { phrases, excluded }: SearchOperators,
  search: CheckedSearch,
  tables: Tables,
): Steps<Bitmap> {
  const isOnlyExclusions = excluded.length > 0 && sharedWords(search).length === 0;
  const isAny = search.mode === 'any' && phrases.length > 0;
  const left = new Bitmap(tables.docs.capacity);
  left.unite(isOnlyExclusions || isAny ? tables.docs.live : known);
  for (const phrase of phrases) left.intersect(yield* docsWith(phrase, search, tables));
  return left;
}

/** The docs with a phrase in one of the searched fields, normalized for each field. */
function* docsWith(phrase: string, { fields }: CheckedSearch, tables: Tables): Steps<Bitmap> {
  const docs = new Bitmap(tables.docs.capacity);
  for (const { field } of fields) {
    const text = tables.fields.get(field)?.text ?? null;
    if (text === null) continue;
    const words = text.analyzer.terms(phrase);
    const having = yield* docsWithAll(words, text, tables);
    if (words.length > 1) yield* keepPhrase(phraseTerm(words), having, field, text, tables);
    docs.unite(having);
  }
  return docs;
}

const run: DocRun = { docs: new Int32Array(0), from: 0, end: 0 };

/** The live docs that have each of the words. */
function* docsWithAll(words: readonly string[], text: FieldText, tables: Tables): Steps<Bitmap> {
  const { terms, postings } = text.words;
  const docs = new Bitmap(tables.docs.capacity);
  if (words.length === 0) return docs;
  docs.unite(tables.docs.live);
  for (const word of new Set(words)) {
    const having = new Bitmap(tables.docs.capacity);
    for (const termId of terms.termIdsOf(word)) {
      postings.show(termId, run);
      for (let at = run.from; at < run.end; at += 1) having.add(docOf(run.docs[at] ?? 0));
      workBudget.units += run.end - run.from;
    }
    docs.intersect(having);
    if (workBudget.isOver()) yield;
  }
  return docs;
}

/** Removes docs whose words are not adjacent. */
function* keepPhrase(
  term: string,
  docs: Bitmap,
  field: string,
  text: FieldText,
  tables: Tables,
): Steps<void> {
  const finder = new PhraseFinder([term]);
  const list = new Int32Array(docs.countUpTo(Number.POSITIVE_INFINITY));
  docs.list(list);
  for (const doc of list) {
    const made = tables.docs.readFields(doc);
    const fields = made instanceof Suspended ? yield* made.steps : made;
    workBudget.units += unitsPerItem;
    const value = sentValue(fields, field);
    const sent = value instanceof Suspended ? yield* value.steps : value;
    if (!(yield* hasPhrase(sent, finder, text))) docs.remove(doc);
    if (workBudget.isOver()) yield;
  }
}

function* hasPhrase(value: Json, finder: PhraseFinder, { analyzer }: FieldText): Steps<boolean> {
  for (const sent of Array.isArray(value) ? value : [value]) {
    if (typeof sent !== 'string') continue;
    const text = analyzer.isHtml ? yield* textOfHtml(sent) : sent;
    const next = finder.walk();
    for (const piece of wordPieces(text, analyzer.cutter)) {
      for (const raw of piece) {
        const word = analyzer.word(raw);
        if (word !== '' && next(word).length > 0) return true;
      }
      if (workBudget.isOver()) yield;
    }
  }
  return false;
}
