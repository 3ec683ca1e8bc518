import { typedValue, valueText } from '../parts/typed-value.ts';
import { type Condition, conditionsOf, operators, type QueryObject, withConditions } from './query-state.ts';
import type { IndexField } from './targets.ts';

interface ConditionsProps {
  readonly fields: readonly IndexField[];
  readonly query: QueryObject;
  readonly onQuery: (query: QueryObject) => void;
}

/** The form for conditions combined with AND. Other filters can be edited as JSON. */
export function Conditions({ fields, query, onQuery }: ConditionsProps) {
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
