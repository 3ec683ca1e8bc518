import type { Json } from '../contract/json.ts';
import { compareCodePoints } from './code-points.ts';
import { jsonEqual } from './json-equal.ts';
import type { PathTest, PathValue } from './json-path-run.ts';

export const comparisonOperators = ['==', '!=', '<=', '>=', '<', '>'] as const;
export type ComparisonOperator = (typeof comparisonOperators)[number];

/** RFC 9535 section 2.3.5.2.2: equality is deep and typed; order is for two numbers or two texts alone. */
export function compareValues(left: PathValue, operator: ComparisonOperator, right: PathValue): PathTest {
  return (run, current) => {
    const a = left(run, current);
    const b = right(run, current);
    switch (operator) {
      case '==':
        return jsonEqual(a, b, run.spend);
      case '!=':
        return !jsonEqual(a, b, run.spend);
      case '<':
        return less(a, b);
      case '>':
        return less(b, a);
      case '<=':
        return less(a, b) || jsonEqual(a, b, run.spend);
      case '>=':
        return less(b, a) || jsonEqual(a, b, run.spend);
    }
  };
}

function less(a: Json | undefined, b: Json | undefined): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a < b;
  return typeof a === 'string' && typeof b === 'string' && compareCodePoints(a, b) < 0;
}
