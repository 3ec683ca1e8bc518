import type { Json } from '../../contract/json.ts';
import type { Evaluate, Frame } from '../language/scope.ts';
import type { PropertyPath } from '../lookup-plan.ts';
import type { ComparisonName, PropertyMatchName, TextFunctionName } from './condition-operators.ts';

/** Where a condition reads: from the entity, or from the variable of a lambda around it. */
export interface FilterPath {
  /** Name of the lambda's variable; null for the entity, whose path starts with one of its own fields. */
  readonly variable: string | null;
  readonly steps: PropertyPath;
}

/** A value that a condition compares with. */
export interface Operand {
  /** Its place in the list of values that a query is built from (`QueryValues`). */
  readonly index: number;
  /** The value when it is written out; undefined for a hole. */
  readonly constant: Json | undefined;
}

/** The condition of a `$lookup`, of either form. */
export type FilterNode =
  | { readonly kind: 'and' | 'or'; readonly nodes: readonly FilterNode[] }
  | { readonly kind: 'not'; readonly node: FilterNode }
  | {
      readonly kind: 'compare';
      readonly path: FilterPath;
      readonly operator: ComparisonName;
      readonly operand: Operand;
    }
  /** `spread`: the one operand is a hole whose array holds the values. */
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
  /** Property match: the first of `paths` at which the entity has something counts. */
  | {
      readonly kind: 'match';
      readonly operator: PropertyMatchName;
      readonly paths: readonly PropertyPath[];
      readonly operand: Operand;
    }
  /** A type known at run time alone; `*` and null are all types. */
  | { readonly kind: 'ofType'; readonly operand: Operand };

/** The values that fill a lookup. They are collected while it is compiled, and read again for each query. */
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
