import { JSONPathNode, jsonpath } from 'json-p3';
import type { Json } from '../contract/json.ts';
import type { PathEnvironment } from './json-path-environment.ts';
import { ownMember } from './member.ts';
import type { Evaluate, Frame } from './scope.ts';

const { FilterSelector } = jsonpath.selectors;

type Selector = jsonpath.JSONPathSelector;
/** How a name of the scope is read; null when there is no such name. */
export type FindName = (name: string) => ((frame: Frame) => Json | undefined) | null;

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
    this.#environment.run.spend(cost(node, childCount(node.value)));
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

/** A name or an index, which a hole may give; directly behind `$` a name is one of the scope. */
export class KeySelector extends jsonpath.JSONPathSelector {
  readonly #environment: PathEnvironment;
  readonly #parsed: Selector;
  readonly #key: Evaluate;
  readonly #find: FindName | null;

  /** @param find reads the names of the scope where the selector stands directly behind `$`, else null */
  constructor(environment: PathEnvironment, parsed: Selector, key: Evaluate, find: FindName | null) {
    super(environment, parsed.token);
    this.#environment = environment;
    this.#parsed = parsed;
    this.#key = key;
    this.#find = find;
  }

  override resolve(node: JSONPathNode): JSONPathNode[] {
    const { run } = this.#environment;
    run.spend(cost(node, 0));
    const key = run.filled(this.#key);
    if (typeof key !== 'string' && typeof key !== 'number') return [];
    const value = typeof key === 'string' ? this.#member(node, key) : elementAt(node, key);
    return value === undefined ? [] : [new JSONPathNode(value, [...node.location, key], node.root)];
  }

  #member(node: JSONPathNode, name: string): Json | undefined {
    if (this.#find !== null) return this.#find(name)?.(this.#environment.run.frame);
    return ownMember(jsonOf(node), name);
  }

  override *lazyResolve(node: JSONPathNode): Generator<JSONPathNode> {
    yield* this.resolve(node);
  }

  override toString(): string {
    return this.#parsed.toString();
  }
}

function elementAt(node: JSONPathNode, index: number): Json | undefined {
  const value = jsonOf(node);
  return Array.isArray(value) && Number.isInteger(index) ? value.at(index) : undefined;
}

/** A node's value: what a path is applied to is JSON, so what it selects is. */
export function jsonOf(node: JSONPathNode): Json {
  return node.value as Json;
}

function childCount(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

/** Steps of looking at a node and its children. The library copies the location of each, so deep ones cost more. */
function cost(node: JSONPathNode, children: number): number {
  return (1 + children) * (1 + (node.location.length >> 3));
}
