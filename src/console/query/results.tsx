import type { Facet, QueryResult } from '../api/answers.ts';
import { counted, millisecondsText, numberText } from '../parts/format.tsx';
import { Empty, ErrorBox, Loading } from '../parts/notices.tsx';
import { Table } from '../parts/table.tsx';
import { entityHrefOf, useTenant } from '../parts/tenant-context.ts';
import { isChosen, type QueryObject, toggled, withToken } from './query-state.ts';
import type { Target } from './targets.ts';
import type { Queried } from './use-query.ts';

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
