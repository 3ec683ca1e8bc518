/**
 * A worker's first answer to a search if other workers have items too: the statistics of the words in its items, which the
 * front adds up. A worker with few results also sends these. If all workers did, the front scores them itself; otherwise it
 * starts a second round (`front/query-answer.ts`).
 */
import type { Steps } from '../../lib/cooperative-yield.ts';
import type { CheckedQuery, CheckedSearch } from '../../search/checked-query.ts';
import { facetGroupsPerShardMax } from '../../search/facets/facet.ts';
import { current } from '../../search/phase.ts';
import { noStats, type PackedStats, packStats, unpackStats } from '../../search/search-stats.ts';
import type { Shard } from '../../search/shard/shard.ts';
import type {
  FacetGroups,
  RowPlace,
  ScoreInputs,
  UnscoredAnswer,
  UnscoredRow,
} from '../../search/shard-answer.ts';
import { groupsTexts, SizeBudget } from '../result/result-text.ts';
import type { MessageBody } from '../transport/messages.ts';
import { throwRefusal } from './shard-reply.ts';

/** The search of a query that needs scores and has no statistics yet; null for others. */
export function searchWithoutStats({ search, pageSize, distinct }: CheckedQuery): CheckedSearch | null {
  const showsScores = pageSize > 0 || distinct !== null;
  return search !== null && search.stats === null && showsScores ? search : null;
}

type PackedRow = [
  values: RowPlace['values'],
  originId: string,
  sourceId: string,
  updatedAtMs: number,
  fieldsBytes: number,
  ...inputs: [ScoreInputs['frequencies'], ScoreInputs['lengths'], ScoreInputs['boosts']],
];
/** Rows and facets as JSON, to preserve unpaired surrogates, and between them the fields of all rows. */
type PackedFew = [rowsText: string, fields: Buffer, facetsText: string];
/** Fronts of earlier versions read the first three members. */
type StatsBody = [...PackedStats, few?: PackedFew | null];

/** Longer facets are sent in the second round. */
const facetsUnitsMax = 64 * 1024;

const nothingFound: UnscoredAnswer = { stats: noStats, few: { rows: [], facets: [] } };

/** The statistics of the items here, and the matching items if they are few. @param shard null if this worker has no items */
export function* encodeStats(query: CheckedQuery, shard: Shard | null): Steps<MessageBody> {
  const answer = shard === null ? nothingFound : yield* shard.unscored(query, facetGroupsPerShardMax);
  const packed = packStats(answer.stats);
  if (answer.few === null) return [...packed, null];
  current.enter('page');
  const { rows, facets } = answer.few;
  const facetsText = yield* groupsTexts(facets, (at) => query.facets[at]?.size ?? 0, new SizeBudget());
  const isShort = facetsText !== null && facetsText.length <= facetsUnitsMax;
  return [...packed, isShort ? packedFew(rows, facetsText) : null];
}

function packedFew(rows: readonly UnscoredRow[], facetsText: string): PackedFew {
  const packed = rows.map(({ place, updatedAtMs, fieldsBytes, inputs }): PackedRow => {
    const { values, originId, sourceId } = place;
    const { frequencies, lengths, boosts } = inputs;
    return [values, originId, sourceId, updatedAtMs, fieldsBytes.length, frequencies, lengths, boosts];
  });
  return [JSON.stringify(packed), Buffer.concat(rows.map(({ fieldsBytes }) => fieldsBytes)), facetsText];
}

/** @throws RefusedQueryError */
export function decodeStats(body: MessageBody): UnscoredAnswer {
  throwRefusal(body);
  const [items, fields, words, few = null] = body as StatsBody;
  return { stats: unpackStats([items, fields, words]), few: few && unpackedFew(few) };
}

function unpackedFew([rowsText, fields, facetsText]: PackedFew): UnscoredAnswer['few'] {
  const rows: UnscoredRow[] = [];
  let at = 0;
  for (const row of JSON.parse(rowsText) as PackedRow[]) {
    const [values, originId, sourceId, updatedAtMs, bytes, frequencies, lengths, boosts] = row;
    const place = { values, originId, sourceId };
    const fieldsBytes = fields.subarray(at, at + bytes);
    rows.push({ place, updatedAtMs, fieldsBytes, inputs: { frequencies, lengths, boosts } });
    at += bytes;
  }
  return { rows, facets: JSON.parse(facetsText) as FacetGroups[] };
}
