/**
 * Sends the mix of queries with several in a request: multi-queries over the auto-indexed source group
 * (docs/reference/indexes-and-queries.md "The answer").
 */
import { queriesPerRequestMax } from '../../../src/contract/limits.ts';
import { itemType } from '../data/items.ts';
import { sourceGroup } from '../data/tenant.ts';
import { type HttpRequest, type LoadOptions, type LoadResult, load } from '../load/wrk.ts';
import { answerText, inFormOf, type QueryAnswer, type QueryContender } from './contenders.ts';
import type { BenchQuery, ExpectedQuery } from './kinds.ts';

export const queriesPerRequest = queriesPerRequestMax;

/** Requests for a contender whose tenant is auto-indexed. */
export function multiQueries(contender: QueryContender, queries: readonly BenchQuery[]): HttpRequest[] {
  return batchesOf(queries).map((batch) => multiRequest(contender, batch));
}

/** @throws Error for a wrong result */
export async function checkMultiQueries(
  contender: QueryContender,
  checked: readonly ExpectedQuery[],
): Promise<void> {
  for (const batch of batchesOf(checked)) {
    const request = multiRequest(
      contender,
      batch.map(({ query }) => query),
    );
    const answers: QueryAnswer[] = JSON.parse(await answerText(contender, request));
    const expected = batch.map((one) => one.expected);
    const shown = expected.map((one, index) => {
      const answer = answers[index];
      return answer === undefined ? null : inFormOf(one, answer);
    });
    if (JSON.stringify(shown) !== JSON.stringify(expected))
      throw new Error(`${contender.name} returns wrong results of a multi-query`);
  }
}

function batchesOf<T>(queries: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(queries.length / queriesPerRequest) }, (_, number) =>
    queries.slice(number * queriesPerRequest, (number + 1) * queriesPerRequest),
  );
}

function multiRequest(contender: QueryContender, queries: readonly BenchQuery[]): HttpRequest {
  const { headers = {} } = contender.request({});
  const target = { sourceGroupAlias: sourceGroup, sourceEntityType: itemType };
  const body = JSON.stringify(queries.map((query) => ({ ...target, ...query })));
  return { method: 'POST', path: '/v1/source', headers, body };
}

/** Runs a load. Its rate counts queries, and its latencies are those of requests. */
export async function loadMultiQueries(
  wrk: string,
  { port }: QueryContender,
  requestFile: string,
  options: Pick<LoadOptions, 'connections' | 'seconds' | 'skipped'>,
): Promise<LoadResult> {
  const result = await load(wrk, { port, requestFile, ...options });
  return { ...result, requestsPerSecond: result.requestsPerSecond * queriesPerRequest };
}
