import type { Json } from '../../contract/json.ts';
import { compareCodePoints } from '../../lib/code-points.ts';
import { jsonEqual, textSteps } from '../values.ts';

/**
 * RFC 9535 section 2.3.5.2.2: equality is deep and typed; only two numbers or two strings are ordered, strings by code points.
 * The library's comparison orders by UTF-16 units, reads members of prototypes and has no limit.
 * @param spend called with the work of the comparison; may throw to stop it
 */
export function compareValues(
  a: Json | undefined,
  operator: string,
  b: Json | undefined,
  spend: (steps: number) => void,
): boolean {
  spend(textSteps(a, b));
  switch (operator) {
    case '==':
      return jsonEqual(a, b, spend);
    case '!=':
      return !jsonEqual(a, b, spend);
    case '<':
      return less(a, b);
    case '>':
      return less(b, a);
    case '<=':
      return less(a, b) || jsonEqual(a, b, spend);
    case '>=':
      return less(b, a) || jsonEqual(a, b, spend);
    default:
      return false;
  }
}

function less(a: Json | undefined, b: Json | undefined): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a < b;
  return typeof a === 'string' && typeof b === 'string' && compareCodePoints(a, b) < 0;
}
