import type { Json } from '../../contract/json.ts';
import type { Evaluate, Frame } from '../language/scope.ts';
import type { PropertyPath } from '../lookup-layout.ts';
import type { ComparisonName, PropertyMatchName, TextFunctionName } from './condition-operators.ts';

/** A path in a condition: in the entity, or in the variable of an enclosing lambda. */
export interface FilterPath {
  /** Name of the lambda's variable; null for the entity, where the path starts with a field. */
  readonly variable: string | null;
  readonly steps: PropertyPath;
}

/** A value that a condition compares with. */
export interface Operand {
  /** Its index in the values of a query (`QueryValues`). */
  readonly index: number;
  /** The value of a literal; undefined for a hole. */
  readonly constant: Json | undefined;
}

/** The condition of a `$lookup`. */
export type FilterNode =
  | { readonly kind: 'and' | 'or'; readonly nodes: readonly FilterNode[] }
  | { readonly kind: 'not'; readonly node: FilterNode }
  | {
      readonly kind: 'compare';
      readonly path: FilterPath;
      readonly operator: ComparisonName;
      readonly operand: Operand;
    }
  /** With `spread`, the only operand is a hole whose array has the values. */
  | {
      readonly kind: 'in';
      readonly path: FilterPath;
      readonly operands: readonly Operand[];
      readonly spread: boolean;
    }
  | {
      readonly kind: 'text';
      readonly function: TextFunctionName;
      readonly path: FilterPath;
      readonly operand: Operand;
    }
  | {
      readonly kind: 'any' | 'all';
      readonly path: FilterPath;
      readonly variable: string;
      readonly node: FilterNode;
    }
  /** Property match: uses the first of `paths` at which the entity has a value. */
  | {
      readonly kind: 'match';
      readonly operator: PropertyMatchName;
      readonly paths: readonly PropertyPath[];
      readonly operand: Operand;
    }
  /** A type that is only known at run time; `*` and null mean all types. */
  | { readonly kind: 'ofType'; readonly operand: Operand };

/** The values of a lookup: collected while it is compiled, and evaluated for each query. */
export class QueryValues {
  readonly #evaluate: Evaluate[] = [];

  add(evaluate: Evaluate): Operand {
    this.#evaluate.push(evaluate);
    return { index: this.#evaluate.length - 1, constant: undefined };
  }

  addConstant(constant: Json): Operand {
    return { ...this.add(() => constant), constant };
  }

  values(frame: Frame): Json[] {
    return this.#evaluate.map((evaluate) => evaluate(frame));
  }
}
