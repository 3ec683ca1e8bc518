import type { CheckedQuery } from './checked-query.ts';
import type { PartialAnswer } from './merge.ts';
import type { ShownRow, UnscoredAnswer } from './shard-answer.ts';
import { Scorer } from './text/score-inputs.ts';

/**
 * The answers of shards that have sent all items that match, with their scores. Their rows are in no order.
 * @param query with the statistics of all shards
 * @returns null when a shard has sent nothing but statistics
 */
export function scoredAnswers(
  { search, sort }: CheckedQuery,
  answers: readonly UnscoredAnswer[],
): PartialAnswer<ShownRow>[] | null {
  const found = answers.map(({ few }) => few).filter((few) => few !== null);
  if (search === null || found.length < answers.length) return null;
  const scorer = new Scorer(search);
  return found.map(({ rows, facets }) => {
    const scored = rows.map(({ place, updatedAtMs, fieldsBytes, inputs }): ShownRow => {
      const score = scorer.score(inputs);
      const values = place.values.map((value, at) => (sort[at]?.field === '_score' ? score : value));
      return { place: { ...place, values }, score, updatedAtMs, fieldsBytes };
    });
    return { total: rows.length, rows: scored, facets };
  });
}
