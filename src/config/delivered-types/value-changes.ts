/** Finds constants in a schema's code whose objects or arrays may be mutated later. */
import type { AnyNode, Identifier, Program } from 'acorn';
import { simple } from 'acorn-walk';

const mutatingMethods = new Set([
  ...['push', 'pop', 'shift', 'unshift', 'splice', 'sort', 'reverse', 'fill', 'copyWithin'],
]);

export class ValueChanges {
  readonly #mentions = new Map<string, number>();
  readonly #changed = new Set<string>();

  constructor(tree: Program) {
    /** A constant and the variable that initializes it, or a loop variable and its list. */
    const aliases: (readonly [alias: string, of: string])[] = [];
    simple(tree, {
      Identifier: ({ name }) => {
        this.#mentions.set(name, (this.#mentions.get(name) ?? 0) + 1);
      },
      AssignmentExpression: ({ left }) => this.#change(left),
      UpdateExpression: ({ argument }) => this.#change(argument),
      UnaryExpression: ({ operator, argument }) => {
        if (operator === 'delete') this.#change(argument);
      },
      CallExpression: ({ callee, arguments: given }) => {
        const method = callee.type === 'MemberExpression' ? callee.property : null;
        if (method?.type === 'Identifier' && mutatingMethods.has(method.name)) this.#change(callee);
        // The function may mutate its arguments.
        for (const one of given) if (one.type === 'Identifier') this.#changed.add(one.name);
      },
      VariableDeclarator: ({ id, init }) => {
        if (id.type === 'Identifier' && init?.type === 'Identifier') aliases.push([id.name, init.name]);
      },
      ForOfStatement: ({ left, right }) => {
        if (left.type !== 'VariableDeclaration' || right.type !== 'Identifier') return;
        for (const { id } of left.declarations) {
          if (id.type === 'Identifier') aliases.push([id.name, right.name]);
        }
      },
    });
    // An alias is declared after its target, so process the last ones first.
    for (const [alias, of] of aliases.reverse()) if (this.#changed.has(alias)) this.#changed.add(of);
  }

  /** True if the value is mutated through this name or an alias. */
  isChanged({ name }: Identifier): boolean {
    return this.#changed.has(name);
  }

  /** True if the name occurs anywhere else, because the value may then be mutated through another reference. */
  isNamedAgain({ name }: Identifier): boolean {
    return (this.#mentions.get(name) ?? 0) > 1;
  }

  /** `a.b[0].c = 1` mutates the value of `a`. */
  #change(node: AnyNode): void {
    let at = node;
    while (at.type === 'MemberExpression') at = at.object;
    if (at.type === 'Identifier' && at !== node) this.#changed.add(at.name);
  }
}
