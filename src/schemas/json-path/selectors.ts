import { JSONPathNode, jsonpath, type Token } from 'json-p3';
import type { Json } from '../../contract/json.ts';
import { ownMember } from '../language/member.ts';
import type { Evaluate, Frame } from '../language/scope.ts';
import type { PathEnvironment } from './environment.ts';

const { FilterSelector } = jsonpath.selectors;

type Selector = jsonpath.JSONPathSelector;
/** Reads a name of the scope. */
export type ReadName = (frame: Frame) => Json | undefined;

/** A selector as the library parsed it, which pays the run's budget before it selects. */
export class MeteredSelector extends jsonpath.JSONPathSelector {
  readonly #environment: PathEnvironment;
  readonly #parsed: Selector;

  constructor(environment: PathEnvironment, parsed: Selector) {
    super(environment, parsed.token);
    this.#environment = environment;
    this.#parsed = parsed;
  }

  override resolve(node: JSONPathNode): JSONPathNode[] {
    this.#environment.run.spend(cost(node, 1 + childCount(node.value)));
    // Only its lazy form evaluates the queries of its condition lazily; the other overflows the stack on long arrays.
    if (this.#parsed instanceof FilterSelector) return [...this.#parsed.lazyResolve(node)];
    return this.#parsed.resolve(node);
  }

  override *lazyResolve(node: JSONPathNode): Generator<JSONPathNode> {
    yield* this.resolve(node);
  }

  override toString(): string {
    return this.#parsed.toString();
  }
}

/**
 * Stands first in a descendant segment, selects nothing and pays for the descent. Each node that the library visits passes
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

  /** @param find directly behind `$`: finds the names of the scope, which `$` has besides the elements of `root` */
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

function childCount(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

/** Steps of looking at `nodes` at the depth of a node. The library copies the location of each, so deep ones cost more. */
function cost(node: JSONPathNode, nodes: number): number {
  return nodes * (1 + (node.location.length >> 3));
}
