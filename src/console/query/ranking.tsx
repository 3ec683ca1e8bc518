import {
  type Boost,
  boostOf,
  hasOperators,
  type QueryObject,
  withBoost,
  withOperators,
} from './query-state.ts';
import type { IndexField } from './targets.ts';

interface RankingProps {
  readonly fields: readonly IndexField[];
  readonly query: QueryObject;
  readonly onQuery: (query: QueryObject) => void;
}

const halfLifeDays = 30;
const numberType = /^(integer|long|float|double)(\[\])?$/;

/** Search options: operators, and a field that boosts the score. */
export function Ranking({ fields, query, onQuery }: RankingProps) {
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
