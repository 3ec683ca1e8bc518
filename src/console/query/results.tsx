import { useEffect, useState } from 'preact/hooks';
import type { Facet, QueryResult } from '../api/answers.ts';
import { type RequestError, request, requestErrorOf, withParameters } from '../api/request.ts';
import { counted, millisecondsText, numberText } from '../parts/format.tsx';
import { Empty, ErrorBox, Loading } from '../parts/notices.tsx';
import { Table } from '../parts/table.tsx';
import { entityHrefOf, useTenant } from '../parts/tenant-context.ts';
import { facetQuestion, facetsMax, isChosen, type QueryObject, toggled, withToken } from './query-state.ts';
import { type Target, targetMembers } from './targets.ts';

interface ResultsProps {
  readonly outcome: Queried;
  readonly target: Target;
  readonly query: QueryObject;
  readonly onQuery: (query: QueryObject) => void;
}

export function Results({ outcome: { result, error, milliseconds, retry }, query, onQuery }: ResultsProps) {
  if (error !== null) return <ErrorBox error={error} retry={retry} />;
  if (result === null) return <Loading />;
  return (
    <section>
      <h2>
        <span aria-live="polite">{counted(result.totalResults, 'result')}</span>
        {milliseconds !== null && <small class="quiet"> in {millisecondsText(milliseconds)}</small>}
      </h2>
      {result.facets.length > 0 && (
        <div class="facets">
          {result.facets.map((facet) => (
            <FacetGroups key={facet.name} facet={facet} query={query} onQuery={onQuery} />
          ))}
        </div>
      )}
      <Items result={result} />
      {result.nextPageToken !== null && (
        <nav class="paging" aria-label="Pages of results">
          <button type="button" onClick={() => onQuery(withToken(query, result.nextPageToken ?? ''))}>
            Next page
          </button>
        </nav>
      )}
    </section>
  );
}

interface FacetGroupsProps extends Pick<ResultsProps, 'query' | 'onQuery'> {
  readonly facet: Facet;
}

function FacetGroups({ facet: { name, field, groups, isValid }, query, onQuery }: FacetGroupsProps) {
  const highest = Math.max(1, ...groups.map(({ count }) => count));
  return (
    <section class="facet" aria-label={`Facet ${name}`}>
      <h3>{name}</h3>
      {!isValid && <p class="quiet">This field has no facets.</p>}
      <ul>
        {groups.map(({ value, count }) => (
          <li key={String(value)}>
            <button
              type="button"
              aria-pressed={isChosen(query, field, value)}
              onClick={() => onQuery(toggled(query, field, value))}
            >
              <span>{String(value)}</span> <span class="number">{numberText(count)}</span>
              <meter min={0} max={highest} value={count} aria-hidden="true" />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

const columnsMax = 8;

function Items({ result: { results } }: { readonly result: QueryResult }) {
  const { tenant } = useTenant();
  if (results.length === 0) return <Empty>No results. Remove a filter or try other words.</Empty>;
  const names = [...new Set(results.flatMap((item) => Object.keys(item)))].filter(
    (name) => !name.startsWith('_'),
  );
  const columns = names.slice(0, columnsMax);
  const isNumber = (name: string) =>
    results.every((item) => item[name] === null || typeof item[name] === 'number');
  return (
    <Table
      label="Results"
      heads={[{ name: 'originId' }, ...columns.map((name) => ({ name, isNumber: isNumber(name) }))]}
      rows={results.map((item) => {
        const originId = String(item._originId);
        const href = entityHrefOf(tenant, `gid://Source/${item._sourceGuid}/Entity/${originId}`);
        return [
          href === null ? (
            originId
          ) : (
            <a key="id" class="id" href={href}>
              {originId}
            </a>
          ),
          ...columns.map((name) => <Cell key={name} value={item[name]} />),
        ];
      })}
    />
  );
}

const cellCharactersMax = 300;

/** A value as text, truncated to about three lines. */
function Cell({ value }: { readonly value: unknown }) {
  if (value === undefined || value === null) return null;
  return <span class="cell">{plainText(value).slice(0, cellCharactersMax)}</span>;
}

function plainText(value: unknown): string {
  if (typeof value === 'string') return value;
  const isTexts = Array.isArray(value) && value.every((one) => typeof one === 'string');
  return isTexts ? value.join(', ') : JSON.stringify(value);
}

interface QueryOutcome {
  /** The last successful result, which is kept while the next one loads. */
  readonly result: QueryResult | null;
  readonly error: RequestError | null;
  /** Duration of the request. */
  readonly milliseconds: number | null;
}

interface Queried extends QueryOutcome {
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
