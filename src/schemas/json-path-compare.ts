import type { Json } from '../contract/json.ts';
import { compareCodePoints } from './code-points.ts';
import type { PathRun, PathTest, PathValue } from './json-path-run.ts';

export const comparisonOperators = ['==', '!=', '<=', '>=', '<', '>'] as const;
export type ComparisonOperator = (typeof comparisonOperators)[number];

/** RFC 9535 section 2.3.5.2.2: equality is deep and typed; order is for two numbers or two texts alone. */
export function compareValues(left: PathValue, operator: ComparisonOperator, right: PathValue): PathTest {
  return (run, current) => {
    const a = left(run, current);
    const b = right(run, current);
    switch (operator) {
      case '==':
        return equal(run, a, b);
      case '!=':
        return !equal(run, a, b);
      case '<':
        return less(a, b);
      case '>':
        return less(b, a);
      case '<=':
        return less(a, b) || equal(run, a, b);
      case '>=':
        return less(b, a) || equal(run, a, b);
    }
  };
}

function less(a: Json | undefined, b: Json | undefined): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a < b;
  return typeof a === 'string' && typeof b === 'string' && compareCodePoints(a, b) < 0;
}

function equal(run: PathRun, a: Json | undefined, b: Json | undefined): boolean {
  run.spend(1);
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equal(run, item, b[index]));
  }
  if (Array.isArray(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && equal(run, a[name], b[name]));
}
