/** Goes over the values that a path selects, in steps. */
import { JSONPathNode, type JSONPathQuery, type jsonpath, TokenKind } from 'json-p3';
import type { Json } from '../../contract/json.ts';
import { type Resumable, type Steps, Suspended, workBudget } from '../../lib/cooperative-yield.ts';
import type { Frame } from '../language/scope.ts';
import type { PathEnvironment } from './path-environment.ts';
import { OutOfSteps, PathRun } from './run.ts';
import { childrenOf, MeteredSelector, nodeValue, type Walk } from './selectors.ts';

/** The values selected; none once the build has no steps left, which the build tells. */
export function selectedBy(
  query: JSONPathQuery,
  environment: PathEnvironment,
  frame: Frame,
): Resumable<readonly Json[]> {
  const selection = new Selection(
    walkOf(query, frame.self)[Symbol.iterator](),
    environment,
    new PathRun(frame),
  );
  return selection.goOn() ? selection.found : new Suspended(selection.rest());
}

class Selection {
  found: Json[] = [];

  constructor(
    private readonly nodes: Iterator<JSONPathNode | null, unknown>,
    private readonly environment: PathEnvironment,
    private readonly run: PathRun,
  ) {}

  /** @returns false when it pauses */
  goOn(): boolean {
    return this.environment.within(this.run, () => this.#takeSome());
  }

  *rest(): Steps<readonly Json[]> {
    do yield;
    while (!this.goOn());
    return this.found;
  }

  #takeSome(): boolean {
    try {
      for (;;) {
        const { done, value } = this.nodes.next();
        if (done) return true;
        if (value === null) return false;
        this.found.push(nodeValue(value));
        if (workBudget.isOver()) return false;
      }
    } catch (error) {
      if (!(error instanceof OutOfSteps)) throw error;
      this.found = [];
      return true;
    }
  }
}

/** The nodes that a path selects, in order. Null between them: here it may pause. */
export function walkOf(query: JSONPathQuery, root: JSONPathNode['value']): Iterable<JSONPathNode | null> {
  let nodes: Iterable<JSONPathNode | null> = [new JSONPathNode(root, [], root)];
  for (const { selectors, token } of query.segments) {
    nodes = token.kind === TokenKind.DDOT ? below(nodes, selectors) : children(nodes, selectors);
  }
  return nodes;
}

/** What the selectors of a segment select of each node. */
function* children(
  nodes: Iterable<JSONPathNode | null>,
  selectors: readonly jsonpath.JSONPathSelector[],
): Walk {
  for (const node of nodes) {
    if (node !== null) {
      for (const selector of selectors) {
        if (selector instanceof MeteredSelector) yield* selector.walk(node);
        else for (const selected of selector.resolve(node)) yield selected;
      }
    }
    if (node === null || workBudget.isOver()) yield null;
  }
}

/** The same for each node and all below it. */
function* below(nodes: Iterable<JSONPathNode | null>, selectors: readonly jsonpath.JSONPathSelector[]): Walk {
  for (const node of nodes) yield* node === null ? [null] : children(descendants(node), selectors);
}

/** The node and all below it, each before what is below it. */
function* descendants(top: JSONPathNode): Generator<JSONPathNode, void, undefined> {
  yield top;
  const open = [childrenOf(top)];
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    const { done, value: child } = last.next();
    if (done) {
      open.pop();
      continue;
    }
    yield child;
    if (typeof child.value === 'object' && child.value !== null) open.push(childrenOf(child));
  }
}
