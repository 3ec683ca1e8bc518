import type { Json } from '../../contract/json.ts';
import type { Operand } from '../filter/node.ts';
import type { Evaluate, Frame } from '../language/scope.ts';

/** The values that a lookup is filled with, collected while it is compiled and read anew for each query. */
export class Slots {
  readonly #evaluate: Evaluate[] = [];

  add(evaluate: Evaluate): Operand {
    this.#evaluate.push(evaluate);
    return { slot: this.#evaluate.length - 1, constant: undefined };
  }

  addConstant(constant: Json): Operand {
    return { slot: this.add(() => constant).slot, constant };
  }

  values(frame: Frame): Json[] {
    return this.#evaluate.map((evaluate) => evaluate(frame));
  }
}
