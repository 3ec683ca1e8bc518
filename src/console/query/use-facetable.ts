import { useEffect, useState } from 'preact/hooks';
import type { QueryResult } from '../api/answers.ts';
import { request, withParameters } from '../api/request.ts';
import { facetQuestion, facetsMax } from './query-state.ts';
import { type Target, targetMembers } from './targets.ts';

/**
 * Those of the fields that facets and sort keys can name. The index says it: an index in code and an auto-indexed type have no document
 * with the types of their fields. The first `facetsMax` fields are asked about.
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
      // The query itself says what is wrong.
      () => {},
    );
    return () => stop.abort();
  }, [environment, index, asked]);
  return facetable;
}
