/** The names of a schema's code and what they stand for, as far as they are written out once and never given again. */
import type {
  AnyNode,
  Expression,
  Function as FunctionNode,
  ObjectExpression,
  Pattern,
  Program,
  ReturnStatement,
  VariableDeclarator,
} from 'acorn';
import { base, simple } from 'acorn-walk';

export class CodeScope {
  readonly #constants = new Map<string, Expression>();
  readonly #functions = new Map<string, FunctionNode>();
  /** Names that are declared several times, or are parameters. */
  readonly #unclear = new Set<string>();
  readonly #mentions = new Map<string, number>();

  constructor(readonly tree: Program) {
    simple(tree, {
      VariableDeclaration: (node) => {
        for (const declared of node.declarations)
          this.#declare(declared, node.kind === 'const' || node.kind === 'var');
      },
      FunctionDeclaration: (node) => {
        if (node.id !== null) this.#add(this.#functions, node.id.name, node);
      },
      Function: (node) => {
        for (const param of node.params) this.#hide(param);
      },
      AssignmentExpression: ({ left }) => {
        if (left.type === 'Identifier') this.#unclear.add(left.name);
      },
      UpdateExpression: ({ argument }) => {
        if (argument.type === 'Identifier') this.#unclear.add(argument.name);
      },
      Identifier: ({ name }) => {
        this.#mentions.set(name, (this.#mentions.get(name) ?? 0) + 1);
      },
    });
  }

  /** What a constant was given; null for any other name. */
  constant(name: string): Expression | null {
    return this.#unclear.has(name) ? null : (this.#constants.get(name) ?? null);
  }

  function(name: string): FunctionNode | null {
    if (this.#unclear.has(name)) return null;
    const known = this.#functions.get(name);
    if (known !== undefined) return known;
    const constant = this.constant(name);
    return constant !== null && isFunction(constant) ? constant : null;
  }

  /** True when what it stands for may be changed where else it is named. */
  mayBeChanged(name: string): boolean {
    return (this.#mentions.get(name) ?? 0) > 1;
  }

  #declare({ id, init }: VariableDeclarator, isConstant: boolean): void {
    if (id.type !== 'Identifier') this.#hide(id);
    else if (isConstant && init !== null && init !== undefined) this.#add(this.#constants, id.name, init);
    else this.#unclear.add(id.name);
  }

  #add<T>(map: Map<string, T>, name: string, thing: T): void {
    if (this.#constants.has(name) || this.#functions.has(name)) this.#unclear.add(name);
    map.set(name, thing);
  }

  /** Names of a pattern stand for what nobody sees here. */
  #hide(pattern: Pattern): void {
    switch (pattern.type) {
      case 'Identifier':
        this.#unclear.add(pattern.name);
        return;
      case 'ObjectPattern':
        for (const property of pattern.properties) {
          this.#hide(property.type === 'RestElement' ? property.argument : property.value);
        }
        return;
      case 'ArrayPattern':
        for (const item of pattern.elements) if (item !== null) this.#hide(item);
        return;
      case 'AssignmentPattern':
        this.#hide(pattern.left);
        return;
      case 'RestElement':
        this.#hide(pattern.argument);
    }
  }
}

export function isFunction(node: AnyNode): node is FunctionNode & Expression {
  return node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression';
}

/** The object that a schema's file exports; null where it is made by a call. */
export function exportedObject(scope: CodeScope): ObjectExpression | null {
  const exported = scope.tree.body.find(
    (node): node is ReturnStatement => node.type === 'ReturnStatement',
  )?.argument;
  const object = exported?.type === 'Identifier' ? scope.constant(exported.name) : exported;
  return object?.type === 'ObjectExpression' ? object : null;
}

/** A function of that object; null where it is none that can be seen. */
export function memberFunction(
  scope: CodeScope,
  object: ObjectExpression,
  name: string,
): FunctionNode | null {
  for (const property of object.properties) {
    if (property.type !== 'Property' || property.computed) continue;
    if (property.key.type !== 'Identifier' || property.key.name !== name) continue;
    if (isFunction(property.value)) return property.value;
    return property.value.type === 'Identifier' ? scope.function(property.value.name) : null;
  }
  return null;
}

/** What a function returns, at each of its ends; null: nothing. */
export function returnedBy(node: FunctionNode): readonly (Expression | null)[] {
  if (node.body.type !== 'BlockStatement') return [node.body];
  const returned: (Expression | null)[] = [];
  // Functions inside return for themselves.
  const visitor = { ...base, Function: () => {} };
  simple(
    node.body,
    {
      ReturnStatement: ({ argument }) => {
        returned.push(argument ?? null);
      },
    },
    visitor,
  );
  return returned;
}
