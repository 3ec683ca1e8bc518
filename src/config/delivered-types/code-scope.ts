/** Resolves the names of a schema's code, if they are defined once and never reassigned. */
import type {
  AnyNode,
  CallExpression,
  Expression,
  Function as FunctionNode,
  Identifier,
  ObjectExpression,
  Pattern,
  Program,
  ReturnStatement,
  Statement,
  VariableDeclaration,
} from 'acorn';
import { ancestor, base, simple } from 'acorn-walk';
import { ValueChanges } from './value-changes.ts';

/** The declaration of a name. */
export type Binding =
  | { readonly kind: 'constant'; readonly value: Expression }
  | { readonly kind: 'function'; readonly node: FunctionNode }
  /** A member of a destructured expression or of a function's first parameter; with an empty path, the whole value. */
  | {
      readonly kind: 'part';
      readonly of: Expression | FirstParameter;
      readonly path: readonly string[];
      /** The default for undefined; null: none. */
      readonly fallback: Expression | null;
    };

export interface FirstParameter {
  readonly type: 'FirstParameter';
  readonly function: FunctionNode;
}

/** A range of offsets in the code. */
interface Range {
  readonly start: number;
  readonly end: number;
}

interface Declaration {
  /** Null if it cannot be inferred. */
  readonly binding: Binding | null;
  /** The range of the code where the declaration applies. */
  readonly scope: Range;
}

/** The maximum number of names and calls between an export and its object. */
const namesMax = 20;

const blocks = new Set([
  ...['BlockStatement', 'StaticBlock', 'Program', 'ForStatement', 'ForInStatement', 'ForOfStatement'],
  ...['SwitchStatement', 'CatchClause'],
]);

export class CodeScope {
  readonly #declarations = new Map<string, Declaration[]>();
  readonly #assigned = new Set<string>();
  readonly changes: ValueChanges;

  constructor(readonly tree: Program) {
    this.changes = new ValueChanges(tree);
    ancestor(tree, {
      VariableDeclaration: (node, _, ancestors) =>
        this.#variables(node, scopeOf(ancestors, node.kind === 'var')),
      Function: (node, _, ancestors) => {
        if (node.type === 'FunctionDeclaration' && node.id)
          this.#declare(node.id.name, { kind: 'function', node }, scopeOf(ancestors, false));
        else if (node.type === 'FunctionExpression' && node.id) this.#declare(node.id.name, null, node);
        node.params.forEach((param, at) => {
          const of = { type: 'FirstParameter', function: node } as const;
          for (const [name, binding] of parts(param, at === 0 ? of : null))
            this.#declare(name, binding, node);
        });
      },
      Class: (node, _, ancestors) => {
        if (node.id) this.#declare(node.id.name, null, scopeOf(ancestors, false));
      },
      CatchClause: (node) => {
        if (!node.param) return;
        for (const [name] of parts(node.param, null)) this.#declare(name, null, node);
      },
      AssignmentExpression: ({ left }) => this.#assign(left),
      UpdateExpression: ({ argument }) => this.#assign(argument),
      ForInStatement: ({ left }) => this.#assign(left),
      ForOfStatement: ({ left }) => this.#assign(left),
    });
  }

  /** Null if the name may have any value. */
  binding({ name, start, end }: Identifier): Binding | null {
    if (this.#assigned.has(name)) return null;
    const around = (this.#declarations.get(name) ?? []).filter(
      ({ scope }) => scope.start <= start && end <= scope.end,
    );
    const size = ({ scope }: Declaration) => scope.end - scope.start;
    const least = Math.min(...around.map(size));
    const [nearest, ...others] = around.filter((one) => size(one) === least);
    return others.length > 0 ? null : (nearest?.binding ?? null);
  }

  /** The initializer of a constant; null for any other name. */
  constant(name: Identifier): Expression | null {
    const binding = this.binding(name);
    return binding?.kind === 'constant' ? binding.value : null;
  }

  function(name: Identifier): FunctionNode | null {
    const binding = this.binding(name);
    if (binding?.kind === 'function') return binding.node;
    return binding?.kind === 'constant' && isFunction(binding.value) ? binding.value : null;
  }

  #variables({ kind, declarations }: VariableDeclaration, scope: Range): void {
    for (const { id, init } of declarations) {
      const isConstant = kind === 'const' || kind === 'var';
      if (id.type === 'Identifier' && isConstant && init)
        this.#declare(id.name, { kind: 'constant', value: init }, scope);
      else
        for (const [name, binding] of parts(id, isConstant ? (init ?? null) : null))
          this.#declare(name, binding, scope);
    }
  }

  #declare(name: string, binding: Binding | null, scope: Range): void {
    this.#declarations.set(name, [...(this.#declarations.get(name) ?? []), { binding, scope }]);
  }

  #assign(to: Pattern | Expression | VariableDeclaration): void {
    if (to.type === 'VariableDeclaration') return;
    if (to.type !== 'Identifier' && !to.type.endsWith('Pattern')) return;
    for (const [name] of parts(to as Pattern, null)) this.#assigned.add(name);
  }
}

/**
 * @param ancestors of a declaration, ending with the declaration
 * @param isVar the name has function scope
 */
function scopeOf(ancestors: readonly AnyNode[], isVar: boolean): Range {
  const around = ancestors.slice(0, -1).reverse();
  const isScope = ({ type }: AnyNode) =>
    /Function/.test(type) || type === 'Program' || (!isVar && blocks.has(type));
  return around.find(isScope) ?? { start: 0, end: Number.POSITIVE_INFINITY };
}

/** The names in a pattern and their bindings. @param of the destructured value; null if it cannot be inferred */
function parts(
  pattern: Pattern,
  of: Expression | FirstParameter | null,
  path: readonly string[] = [],
  fallback: Expression | null = null,
): (readonly [name: string, Binding | null])[] {
  switch (pattern.type) {
    case 'Identifier':
      return [[pattern.name, of === null ? null : { kind: 'part', of, path, fallback }]];
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) => {
        if (property.type === 'RestElement') return parts(property.argument, null);
        const { key, computed, value } = property;
        const name = computed ? null : key.type === 'Identifier' ? key.name : null;
        // A default for the whole object may have other members.
        const isSeen = name !== null && fallback === null;
        return parts(value, isSeen ? of : null, name === null ? path : [...path, name]);
      });
    case 'ArrayPattern':
      return pattern.elements.flatMap((item) => (item === null ? [] : parts(item, null)));
    case 'AssignmentPattern':
      return parts(pattern.left, of, path, pattern.right);
    case 'RestElement':
      return parts(pattern.argument, null);
    default:
      return [];
  }
}

export function isFunction(node: AnyNode): node is FunctionNode & Expression {
  return node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression';
}

/** The object that a schema file exports, also through functions that return their argument; null for any other export. */
export function exportedObject(scope: CodeScope): ObjectExpression | null {
  const exported = scope.tree.body.find(
    (node): node is ReturnStatement => node.type === 'ReturnStatement',
  )?.argument;
  let at = exported ?? null;
  for (let steps = 0; at !== null && steps < namesMax; steps += 1) {
    if (at.type === 'ObjectExpression') return at;
    if (at.type === 'Identifier') at = scope.constant(at);
    else at = at.type === 'CallExpression' ? returnedArgument(scope, at) : null;
  }
  return null;
}

/** The argument of a call to a function that returns its argument unchanged; null for any other call. */
function returnedArgument(
  scope: CodeScope,
  { callee, arguments: [given] }: CallExpression,
): Expression | null {
  const called = callee.type === 'Identifier' ? scope.function(callee) : null;
  if (called === null || called.async || called.generator || given?.type === 'SpreadElement') return null;
  const isParameter = (node: Expression | null) => {
    const binding = node?.type === 'Identifier' ? scope.binding(node) : null;
    if (binding?.kind !== 'part' || binding.of.type !== 'FirstParameter') return false;
    return binding.of.function === called && binding.path.length === 0;
  };
  const body = called.body.type === 'BlockStatement' ? called.body.body : [];
  const returned = returnedBy(called);
  const isSame = body.length <= 1 && returned.length > 0 && returned.every(isParameter);
  return isSame ? (given ?? null) : null;
}

/** A function in that object; null if it cannot be resolved. */
export function memberFunction(
  scope: CodeScope,
  object: ObjectExpression,
  name: string,
): FunctionNode | null {
  for (const property of object.properties) {
    if (property.type !== 'Property' || property.computed) continue;
    if (property.key.type !== 'Identifier' || property.key.name !== name) continue;
    if (isFunction(property.value)) return property.value;
    return property.value.type === 'Identifier' ? scope.function(property.value) : null;
  }
  return null;
}

/** The return values of a function; null for a plain `return` and for reaching the end. */
export function returnedBy(node: FunctionNode): readonly (Expression | null)[] {
  if (node.body.type !== 'BlockStatement') return [node.body];
  const returned: (Expression | null)[] = [];
  // Skip nested functions.
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
  if (!alwaysExits(node.body)) returned.push(null);
  return returned;
}

/** True if code after the statement is certainly unreachable. */
function alwaysExits(statement: Statement): boolean {
  switch (statement.type) {
    case 'ReturnStatement':
    case 'ThrowStatement':
      return true;
    case 'BlockStatement':
      return statement.body.some(alwaysExits);
    case 'IfStatement':
      return statement.alternate
        ? alwaysExits(statement.consequent) && alwaysExits(statement.alternate)
        : false;
    case 'TryStatement': {
      const { block, handler, finalizer } = statement;
      if (finalizer && alwaysExits(finalizer)) return true;
      return alwaysExits(block) && (!handler || alwaysExits(handler.body));
    }
    case 'SwitchStatement': {
      const { cases } = statement;
      const hasDefault = cases.some(({ test }) => !test);
      const everyCaseExits = cases.every(
        ({ consequent }) => consequent.length === 0 || consequent.some(alwaysExits),
      );
      return hasDefault && everyCaseExits && cases.at(-1)?.consequent.length !== 0;
    }
    default:
      return false;
  }
}
