/** Which constants of a schema's code may get other members or items after they were given their value. */
import type { AnyNode, Identifier, Program } from 'acorn';
import { simple } from 'acorn-walk';

const changingMethods = new Set([
  ...['push', 'pop', 'shift', 'unshift', 'splice', 'sort', 'reverse', 'fill', 'copyWithin'],
]);

export class ValueChanges {
  readonly #mentions = new Map<string, number>();
  readonly #changed = new Set<string>();

  constructor(tree: Program) {
    /** A constant and what it was given, or the variable of a loop and the list. */
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
        if (method?.type === 'Identifier' && changingMethods.has(method.name)) this.#change(callee);
        // The function may change what it is given.
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
    // An alias comes after its target, so the last ones are decided first.
    for (const [alias, of] of aliases.reverse()) if (this.#changed.has(alias)) this.#changed.add(of);
  }

  /** True when the value is changed by this name, or by a name that was given the same value. */
  isChanged({ name }: Identifier): boolean {
    return this.#changed.has(name);
  }

  /** True when the name stands anywhere else: then whatever holds the value may change it, too. */
  isNamedAgain({ name }: Identifier): boolean {
    return (this.#mentions.get(name) ?? 0) > 1;
  }

  /** `a.b[0].c = 1` changes the value of `a`. */
  #change(node: AnyNode): void {
    let at = node;
    while (at.type === 'MemberExpression') at = at.object;
    if (at.type === 'Identifier' && at !== node) this.#changed.add(at.name);
  }
}
