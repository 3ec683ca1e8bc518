import { typedValue, valueText } from '../parts/typed-value.ts';
import {
  type Boost,
  boostOf,
  type Condition,
  conditionsOf,
  facetFieldsOf,
  hasOperators,
  operators,
  type QueryObject,
  searchOf,
  sortOf,
  withBoost,
  withConditions,
  withFacet,
  withOperators,
  withSearch,
  withSort,
} from './query-state.ts';
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

type PartProps = Pick<BuilderProps, 'fields' | 'query' | 'onQuery'>;

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

/** The form for conditions combined with AND. Other filters can be edited as JSON. */
function Conditions({ fields, query, onQuery }: PartProps) {
  const conditions = conditionsOf(query);
  if (conditions === null) {
    return (
      <fieldset class="field">
        <legend>Filters</legend>
        <p class="quiet">The form cannot show nested filters. Edit them in the query object.</p>
      </fieldset>
    );
  }
  const change = (next: readonly Condition[]) => onQuery(withConditions(query, next));
  const replace = (at: number, part: Partial<Condition>) =>
    change(conditions.map((one, index) => (index === at ? { ...one, ...part } : one)));
  return (
    <fieldset class="field">
      <legend>Filters</legend>
      {conditions.map((condition, at) => (
        <div key={at} class="condition">
          <select
            aria-label="Field"
            value={condition.field}
            onChange={({ currentTarget }) => replace(at, { field: currentTarget.value })}
          >
            {[...new Set([condition.field, ...fields.map(({ name }) => name)])].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <select
            aria-label="Operator"
            value={condition.operator}
            onChange={({ currentTarget }) => replace(at, { operator: currentTarget.value })}
          >
            {[...new Set([condition.operator, ...operators])].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <input
            type="text"
            aria-label="Value"
            value={valueText(condition.value)}
            onChange={({ currentTarget }) => replace(at, { value: typedValue(currentTarget.value) })}
          />
          <button
            type="button"
            aria-label={`Remove the filter on ${condition.field}`}
            onClick={() => change(conditions.filter((_, index) => index !== at))}
          >
            ✕
          </button>
        </div>
      ))}
      <button
        type="button"
        onClick={() =>
          change([...conditions, { field: fields[0]?.name ?? '_originId', operator: 'equals', value: '' }])
        }
      >
        Add a filter
      </button>
    </fieldset>
  );
}

const halfLifeDays = 30;
const numberType = /^(integer|long|float|double)(\[\])?$/;

/** Search options: operators, and a field that boosts the score. */
function Ranking({ fields, query, onQuery }: PartProps) {
  const boost = boostOf(query);
  const isDate = (name: string) =>
    fields.some((field) => field.name === name && field.type.startsWith('date'));
  const boostable = fields.filter(({ name, type }) => numberType.test(type) || isDate(name));
  const change = (part: Partial<Boost>) => onQuery(withBoost(query, { ...boost, ...part }));
  return (
    <fieldset class="field">
      <legend>Ranking</legend>
      <label>
        <input
          type="checkbox"
          checked={hasOperators(query)}
          onChange={({ currentTarget }) => onQuery(withOperators(query, currentTarget.checked))}
        />{' '}
        "phrases" and -exclusions
      </label>
      <div class="pair">
        <select
          aria-label="Boost by"
          value={boost.field}
          onChange={({ currentTarget: { value } }) =>
            change({ field: value, halfLife: isDate(value) ? (boost.halfLife ?? halfLifeDays) : null })
          }
        >
          <option value="">no boost</option>
          {[...new Set([boost.field, ...boostable.map(({ name }) => name)])]
            .filter((name) => name !== '')
            .map((name) => (
              <option key={name}>{name}</option>
            ))}
        </select>
        <input
          type="number"
          aria-label="Weight of the boost"
          min="0.01"
          max="100"
          step="any"
          value={boost.weight}
          disabled={boost.field === ''}
          onChange={({ currentTarget }) => change({ weight: Number(currentTarget.value) })}
        />
        {boost.halfLife !== null && (
          <input
            type="number"
            aria-label="Half-life of the boost in days"
            min="0.01"
            step="any"
            value={boost.halfLife}
            onChange={({ currentTarget }) => change({ halfLife: Number(currentTarget.value) })}
          />
        )}
      </div>
    </fieldset>
  );
}
