/** Test collections with relevance judgements, and the score of a ranking on them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { searchCodePointsMax } from '../../../src/contract/limits.ts';
import { dataDir } from '../data/sets.ts';

export interface RankedDoc {
  readonly id: string;
  readonly title: string;
  readonly body: string;
}

export interface JudgedQuery {
  readonly text: string;
  /** Document -> grade, above 0. */
  readonly grades: ReadonlyMap<string, number>;
}

export interface Collection {
  readonly name: string;
  readonly docs: readonly RankedDoc[];
  readonly queries: readonly JudgedQuery[];
}

/** The folders with documents, queries and judgements in `MILLRACE_BENCH_DATA`. */
export function collections(): Collection[] {
  if (!existsSync(dataDir)) return [];
  return readdirSync(dataDir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(path.join(dataDir, entry.name, 'qrels.ndjson')))
    .map(({ name }) => collection(name));
}

function collection(name: string): Collection {
  const lines = (file: string) =>
    readFileSync(path.join(dataDir, name, `${file}.ndjson`), 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  const grades = new Map<string, Map<string, number>>();
  for (const line of lines('qrels')) {
    const { query, doc, grade } = JSON.parse(line) as { query: string; doc: string; grade: number };
    const ofQuery = grades.get(query) ?? new Map<string, number>();
    grades.set(query, ofQuery);
    if (grade > 0) ofQuery.set(doc, grade);
  }
  const queries = lines('queries')
    .map((line) => JSON.parse(line) as { id: string; text: string })
    .map(({ id, text }) => ({ text: truncate(text), grades: grades.get(id) ?? new Map<string, number>() }))
    .filter((query) => query.grades.size > 0);
  const docs = lines('docs').map((line) => {
    const { id, title = '', body = '' } = JSON.parse(line) as Partial<RankedDoc> & { readonly id: string };
    return { id, title, body };
  });
  return { name, docs, queries };
}

/** Truncates a query to the maximum length of a search, so that all engines get the same text. */
function truncate(text: string): string {
  return Array.from(text).slice(0, searchCodePointsMax).join('');
}

const letters = 'abcdefghijklmnopqrstuvwxyz';

/** A text with one edit in each word for which our search allows one. @param random from 0 to below 1 */
export function withTypos(text: string, random: () => number): string {
  const below = (end: number) => Math.floor(random() * end);
  const misspelt = text.replace(/[a-z]{3,}/gi, (word) => {
    const at = below(word.length);
    const [before, after] = [word.slice(0, at), word.slice(at)];
    const letter = letters[below(letters.length)] ?? 'x';
    switch (below(4)) {
      case 0:
        return before + letter + after;
      case 1:
        return before + after.slice(1);
      case 2:
        return before + letter + after.slice(1);
      default:
        return before + after.slice(1, 2) + after.slice(0, 1) + after.slice(2);
    }
  });
  return truncate(misspelt);
}

export interface RelevanceScores {
  readonly ndcg: number;
  readonly recall: number;
}

const [ndcgDepth, recallDepth] = [10, 100];
/** Number of ranked documents that are scored. */
export const rankedMax = recallDepth;

/** Mean nDCG@10 and recall@100 over the queries. @param ranked ids of documents for each query, the best first */
export function relevanceScoresOf(
  queries: readonly JudgedQuery[],
  ranked: readonly (readonly string[])[],
): RelevanceScores {
  let [ndcg, recall] = [0, 0];
  for (const [at, { grades }] of queries.entries()) {
    const ids = ranked[at] ?? [];
    const ideal = [...grades.values()].sort((a, b) => b - a);
    ndcg += dcg(ids.map((id) => grades.get(id) ?? 0)) / dcg(ideal);
    recall += ids.slice(0, recallDepth).filter((id) => grades.has(id)).length / grades.size;
  }
  return { ndcg: ndcg / queries.length, recall: recall / queries.length };
}

/** Discounted cumulative gain of the first `ndcgDepth` grades. */
function dcg(grades: readonly number[]): number {
  return grades.slice(0, ndcgDepth).reduce((sum, grade, at) => sum + grade / Math.log2(at + 2), 0);
}
