import { Conditions } from './conditions.tsx';
import {
  facetFieldsOf,
  type QueryObject,
  searchOf,
  sortOf,
  withFacet,
  withSearch,
  withSort,
} from './query-state.ts';
import { Ranking } from './ranking.tsx';
import type { IndexField, Target } from './targets.ts';

interface BuilderProps {
  readonly targets: readonly Target[];
  readonly target: Target;
  readonly fields: readonly IndexField[];
  /** Names of fields that facets and sort keys can use. */
  readonly facetable: ReadonlySet<string>;
  readonly query: QueryObject;
  readonly onTarget: (name: string) => void;
  readonly onQuery: (query: QueryObject) => void;
}

export function Builder({ targets, target, fields, facetable, query, onTarget, onQuery }: BuilderProps) {
  const { fields: searched, value } = searchOf(query);
  const { field: sorted, order } = sortOf(query);
  const facets = facetFieldsOf(query);
  const sortable = named(sorted, fields, facetable);
  const faceted = fields.filter(({ name }) => facetable.has(name) || facets.includes(name));
  const texts = fields.filter(({ type }) => type === '' || type.startsWith('text'));
  return (
    <form class="builder" onSubmit={(event) => event.preventDefault()}>
      <datalist id="fields">
        {fields.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <div class="field">
        <label for="target">Index</label>
        <select
          id="target"
          value={target.name}
          onChange={({ currentTarget }) => onTarget(currentTarget.value)}
        >
          {targets.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for="search-value">Search</label>
        <div class="pair">
          <input
            id="search-value"
            type="search"
            placeholder="words; typos are allowed"
            value={value}
            onInput={({ currentTarget }) => {
              const inFields = searched === '' ? (texts[0]?.name ?? '') : searched;
              onQuery(withSearch(query, currentTarget.value === '' ? '' : inFields, currentTarget.value));
            }}
          />
          <input
            type="text"
            aria-label="Fields to search, separated by commas"
            placeholder={texts[0]?.name ?? 'field'}
            list="fields"
            value={searched}
            onChange={({ currentTarget }) => onQuery(withSearch(query, currentTarget.value, value))}
          />
        </div>
      </div>
      {value !== '' && <Ranking fields={fields} query={query} onQuery={onQuery} />}
      <Conditions fields={fields} query={query} onQuery={onQuery} />
      <div class="field">
        <label for="sort-field">Sort</label>
        <div class="pair">
          <select
            id="sort-field"
            value={sorted}
            onChange={({ currentTarget }) => onQuery(withSort(query, currentTarget.value, order))}
          >
            <option value="">{value === '' ? 'last changed first' : 'by relevance'}</option>
            {sortable.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <select
            aria-label="Order"
            value={order}
            disabled={sorted === ''}
            onChange={({ currentTarget }) => onQuery(withSort(query, sorted, currentTarget.value))}
          >
            <option value="asc">ascending</option>
            <option value="desc">descending</option>
          </select>
        </div>
      </div>
      {faceted.length > 0 && (
        <fieldset class="field">
          <legend>Facets</legend>
          <div class="checks">
            {faceted.map(({ name }) => (
              <label key={name}>
                <input
                  type="checkbox"
                  checked={facets.includes(name)}
                  onChange={({ currentTarget }) => onQuery(withFacet(query, name, currentTarget.checked))}
                />{' '}
                {name}
              </label>
            ))}
          </div>
        </fieldset>
      )}
    </form>
  );
}

/** The selectable fields, including the one in the query. */
function named(chosen: string, fields: readonly IndexField[], facetable: ReadonlySet<string>): string[] {
  const names = fields.map(({ name }) => name).filter((name) => facetable.has(name));
  return chosen === '' || names.includes(chosen) ? names : [chosen, ...names];
}
