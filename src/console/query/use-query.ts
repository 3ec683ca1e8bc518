import { useEffect, useState } from 'preact/hooks';
import type { QueryResult } from '../api/answers.ts';
import { type RequestError, request, requestErrorOf, withParameters } from '../api/request.ts';
import { facetQuestion, facetsMax, type QueryObject } from './query-state.ts';
import { type Target, targetMembers } from './targets.ts';

export interface QueryOutcome {
  /** The last successful result, which is kept while the next one loads. */
  readonly result: QueryResult | null;
  readonly error: RequestError | null;
  /** Duration of the request. */
  readonly milliseconds: number | null;
}

export interface Queried extends QueryOutcome {
  retry(): void;
}

const nothing: QueryOutcome = { result: null, error: null, milliseconds: null };

/** Runs the query whenever it changes. */
export function useQuery(environment: string, target: Target | null, query: QueryObject): Queried {
  const [outcome, setOutcome] = useState(nothing);
  const [turn, setTurn] = useState(0);
  const name = target?.name ?? null;
  useEffect(() => {
    if (target === null) return;
    const stop = new AbortController();
    const began = performance.now();
    request<QueryResult>(withParameters('/query', { environment }), {
      method: 'POST',
      body: { ...query, ...targetMembers(target) },
      signal: stop.signal,
    }).then(
      (result) => setOutcome({ result, error: null, milliseconds: performance.now() - began }),
      (error: unknown) => {
        if (!stop.signal.aborted) setOutcome({ ...nothing, error: requestErrorOf(error) });
      },
    );
    return () => stop.abort();
  }, [environment, name, query, turn]);
  return { ...outcome, retry: () => setTurn(turn + 1) };
}

/**
 * The fields that facets and sort keys can use. Queries the index, because indexes in code and auto-indexed types have no
 * document with field types. Only checks the first `facetsMax` fields.
 */
export function useFacetable(
  environment: string,
  target: Target | null,
  names: readonly string[],
): ReadonlySet<string> {
  const [facetable, setFacetable] = useState<ReadonlySet<string>>(new Set());
  const index = target?.name ?? null;
  const asked = names.slice(0, facetsMax).join('\n');
  useEffect(() => {
    setFacetable(new Set());
    if (target === null || asked === '') return;
    const stop = new AbortController();
    request<QueryResult>(withParameters('/query', { environment }), {
      method: 'POST',
      body: { ...facetQuestion(asked.split('\n')), ...targetMembers(target) },
      signal: stop.signal,
    }).then(
      ({ facets }) => setFacetable(new Set(facets.filter((one) => one.isValid).map(({ field }) => field))),
      // The query itself shows the error.
      () => {},
    );
    return () => stop.abort();
  }, [environment, index, asked]);
  return facetable;
}
