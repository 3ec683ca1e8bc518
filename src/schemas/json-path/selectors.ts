import { JSONPathNode, jsonpath, type Token } from 'json-p3';
import { isJsonObject, type Json } from '../../contract/json.ts';
import { namesOf } from '../../contract/large-json/parse-in-parts.ts';
import { workBudget } from '../../lib/cooperative-yield.ts';
import { ownMember } from '../language/member.ts';
import type { Evaluate, Frame } from '../language/scope.ts';
import type { PathEnvironment } from './path-environment.ts';

const { WildcardSelector } = jsonpath.selectors;

type Selector = jsonpath.JSONPathSelector;
/** Reads a name of the scope. */
export type ReadName = (frame: Frame) => Json | undefined;

/** About what it costs to make a node, in units of the pace. */
const unitsPerNode = 50;

/** Nodes in order. Null between them: here it may pause. */
export type Walk = Generator<JSONPathNode | null, void, undefined>;

/** A selector as the library parsed it, which pays the run's budget before it selects. */
export class MeteredSelector extends jsonpath.JSONPathSelector {
  readonly #environment: PathEnvironment;
  readonly #parsed: Selector;

  constructor(environment: PathEnvironment, parsed: Selector) {
    super(environment, parsed.token);
    this.#environment = environment;
    this.#parsed = parsed;
  }

  *walk(node: JSONPathNode): Walk {
    this.pay(node);
    if (this.#parsed instanceof WildcardSelector) yield* childrenOf(node);
    else yield* this.#parsed.lazyResolve(node);
  }

  protected pay(node: JSONPathNode): void {
    this.#environment.run.spend(cost(node, 1 + childCount(nodeValue(node))));
  }

  override resolve(node: JSONPathNode): JSONPathNode[] {
    const nodes: JSONPathNode[] = [];
    for (const selected of this.walk(node)) if (selected !== null) nodes.push(selected);
    return nodes;
  }

  override *lazyResolve(node: JSONPathNode): Generator<JSONPathNode> {
    yield* this.resolve(node);
  }

  override toString(): string {
    return this.#parsed.toString();
  }
}

/** A part of a condition whose value is made before the condition is evaluated. */
interface PreparedPart {
  prepare(context: jsonpath.FilterContext): Walk;
}

/** A filter: the children for which a condition holds. */
export class ConditionSelector extends MeteredSelector {
  readonly #environment: PathEnvironment;
  readonly #condition: jsonpath.expressions.LogicalExpression;
  readonly #parts: readonly PreparedPart[];

  /** @param parts those of the condition, each after the parts in it */
  constructor(
    environment: PathEnvironment,
    parsed: jsonpath.selectors.FilterSelector,
    condition: jsonpath.expressions.LogicalExpression,
    parts: readonly PreparedPart[],
  ) {
    super(environment, parsed);
    this.#environment = environment;
    this.#condition = condition;
    this.#parts = parts;
  }

  override *walk(node: JSONPathNode): Walk {
    this.pay(node);
    for (const child of childrenOf(node)) {
      const context = {
        environment: this.#environment,
        currentValue: child.value,
        rootValue: node.root,
        // Else the queries of its condition overflow the stack on long arrays.
        lazy: true,
        currentKey: child.location.at(-1) ?? '',
      };
      for (const part of this.#parts) yield* part.prepare(context);
      if (this.#condition.evaluate(context)) yield child;
      else if (workBudget.isOver()) yield null;
    }
  }
}

/**
 * Comes first in a descendant segment, selects nothing and pays for the descent. Each node that the library visits passes
 * through a generator for each level above it, which costs a few times what a step costs elsewhere.
 */
export class DescentToll extends jsonpath.JSONPathSelector {
  readonly #environment: PathEnvironment;

  constructor(environment: PathEnvironment, token: Token) {
    super(environment, token);
    this.#environment = environment;
  }

  override resolve(node: JSONPathNode): JSONPathNode[] {
    this.#environment.run.spend(cost(node, 3));
    return [];
  }

  override *lazyResolve(node: JSONPathNode): Generator<JSONPathNode> {
    yield* this.resolve(node);
  }

  override toString(): string {
    return '';
  }
}

/** A name, or a name or an index that a hole gives. */
export class KeySelector extends jsonpath.JSONPathSelector {
  readonly #environment: PathEnvironment;
  readonly #key: Evaluate;
  readonly #find: ((name: string) => ReadName | null) | null;

  /** @param find directly after `$`: finds the names of the scope, which `$` has besides the elements of `root` */
  constructor(
    environment: PathEnvironment,
    token: Token,
    key: Evaluate,
    find: ((name: string) => ReadName | null) | null,
  ) {
    super(environment, token);
    this.#environment = environment;
    this.#key = key;
    this.#find = find;
  }

  override resolve(node: JSONPathNode): JSONPathNode[] {
    const { run } = this.#environment;
    run.spend(cost(node, 1));
    const key = run.filled(this.#key);
    if (typeof key !== 'string' && typeof key !== 'number') return [];
    const value = typeof key === 'string' ? this.#member(node, key) : elementOf(node, key);
    return value === undefined ? [] : [new JSONPathNode(value, [...node.location, key], node.root)];
  }

  #member(node: JSONPathNode, name: string): Json | undefined {
    if (this.#find === null) return ownMember(nodeValue(node), name);
    return this.#find(name)?.(this.#environment.run.frame);
  }

  override *lazyResolve(node: JSONPathNode): Generator<JSONPathNode> {
    yield* this.resolve(node);
  }

  override toString(): string {
    return this.token.value;
  }
}

function elementOf(node: JSONPathNode, index: number): Json | undefined {
  const value = nodeValue(node);
  return Array.isArray(value) && Number.isInteger(index) ? value.at(index) : undefined;
}

/** A node's value: what a path is applied to is JSON, so what it selects is. */
export function nodeValue(node: JSONPathNode): Json {
  return node.value as Json;
}

export function* childrenOf(node: JSONPathNode): Generator<JSONPathNode, void, undefined> {
  const value = nodeValue(node);
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) yield childNode(node, at, value[at] ?? null);
  } else if (isJsonObject(value)) {
    for (const name of namesOf(value)) yield childNode(node, name, value[name] ?? null);
  }
}

function childNode({ location, root }: JSONPathNode, key: string | number, value: Json): JSONPathNode {
  workBudget.units += unitsPerNode;
  return new JSONPathNode(value, location.concat(key), root);
}

function childCount(value: Json): number {
  if (Array.isArray(value)) return value.length;
  return isJsonObject(value) ? namesOf(value).length : 0;
}

/** Steps of looking at `nodes` at the depth of a node. The library copies the location of each, so deep ones cost more. */
function cost(node: JSONPathNode, nodes: number): number {
  return nodes * (1 + (node.location.length >> 3));
}
