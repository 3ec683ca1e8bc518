import type { Json } from '../../contract/json.ts';
import type { Operand } from '../filter/node.ts';
import type { Evaluate, Frame } from '../language/scope.ts';

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
