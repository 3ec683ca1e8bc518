/** The mix of queries, several in a request: a multi-query over the auto-indexed source group (specification endpoint 10). */
import { queriesPerRequestMax } from '../../src/contract/limits.ts';
import type { BenchContext } from './bench.ts';
import { answerText, inFormOf, type QueryAnswer, type QueryContender } from './query-contenders.ts';
import { itemType } from './query-items.ts';
import type { ExpectedQuery } from './query-mix.ts';
import { sourceGroup } from './tenant.ts';
import { type HttpRequest, type LoadResult, load, prepareRequests } from './wrk.ts';

export const queriesPerRequest = queriesPerRequestMax;

/** The requests of a contender with a tenant that is auto-indexed. @throws Error for a wrong answer */
export async function multiQueries(
  contender: QueryContender,
  mix: readonly ExpectedQuery[],
): Promise<readonly HttpRequest[]> {
  const requests: HttpRequest[] = [];
  for (let at = 0; at < mix.length; at += queriesPerRequest) {
    const portion = mix.slice(at, at + queriesPerRequest);
    const request = multiRequest(contender, portion);
    const answers: QueryAnswer[] = JSON.parse(await answerText(contender, request));
    const expected = portion.map((one) => one.expected);
    const shown = expected.map((one, index) => {
      const answer = answers[index];
      return answer === undefined ? null : inFormOf(one, answer);
    });
    if (JSON.stringify(shown) !== JSON.stringify(expected))
      throw new Error(`${contender.name} answers several queries wrongly`);
    requests.push(request);
  }
  return requests;
}

function multiRequest(contender: QueryContender, queries: readonly ExpectedQuery[]): HttpRequest {
  const { headers = {} } = contender.request({});
  const target = { sourceGroupAlias: sourceGroup, sourceEntityType: itemType };
  const body = JSON.stringify(queries.map(({ query }) => ({ ...target, ...query })));
  return { method: 'POST', path: '/v1/source', headers, body };
}

/** Its rate is that of the queries, its latencies are those of requests. */
export async function loadOfQueries(
  context: BenchContext,
  wrk: string,
  contender: QueryContender,
  requests: readonly HttpRequest[],
  { connections, seconds }: { readonly connections: number; readonly seconds: number },
): Promise<LoadResult> {
  const requestFile = prepareRequests(context, 'multi-queries', requests);
  const result = await load(wrk, { port: contender.port, requestFile, connections, seconds });
  return { ...result, requestsPerSecond: result.requestsPerSecond * queriesPerRequest };
}
