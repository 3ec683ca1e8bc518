import type { Json } from '../contract/json.ts';
import type { PathNodes, PathRun, PathTest } from './json-path-run.ts';
import { ownMember } from './member.ts';
import type { Frame } from './scope.ts';

/** One selector of RFC 9535 section 2.3: adds the children it selects from `node` to `into`, in their order. */
export interface Selector {
  /** True when it selects at most one child. */
  readonly singular: boolean;
  select(run: PathRun, node: Json, into: Json[]): void;
  /** Where it stands directly behind `$`: `$` has the names of the scope besides the members of `root`. */
  selectFromScope?(run: PathRun, into: Json[]): void;
}

export interface Segment {
  readonly descendant: boolean;
  readonly selectors: readonly Selector[];
}

export interface Query {
  readonly singular: boolean;
  readonly nodes: PathNodes;
}

/** @param find reads the name in the scope, where `$` is meant; null when the scope has no such name */
export function nameSelector(name: string, find: ((frame: Frame) => Json | undefined) | null): Selector {
  return {
    singular: true,
    select: (_run, node, into) => addPresent(ownMember(node, name), into),
    selectFromScope: (run, into) => addPresent(find?.(run.frame), into),
  };
}

/** A name or an index that a hole gives. */
export function holeSelector(
  hole: (frame: Frame) => Json,
  find: (name: string) => ((frame: Frame) => Json | undefined) | null,
): Selector {
  return {
    singular: true,
    select: (run, node, into) => addPresent(childOf(node, hole(run.frame)), into),
    selectFromScope: (run, into) => {
      const key = hole(run.frame);
      const value = typeof key === 'string' ? find(key)?.(run.frame) : childOf(run.frame.self, key);
      addPresent(value, into);
    },
  };
}

function childOf(node: Json, key: Json): Json | undefined {
  if (typeof key === 'string') return ownMember(node, key);
  return typeof key === 'number' && Array.isArray(node) ? node[key] : undefined;
}

function addPresent(value: Json | undefined, into: Json[]): void {
  if (value !== undefined) into.push(value);
}

export function indexSelector(index: number): Selector {
  return {
    singular: true,
    select: (_run, node, into) => {
      if (Array.isArray(node)) addPresent(node.at(index), into);
    },
  };
}

export const wildcardSelector: Selector = {
  singular: false,
  select: (run, node, into) => {
    const children = childrenOf(node);
    run.spend(children.length);
    for (const child of children) into.push(child);
  },
};

/** RFC 9535 section 2.3.4: `start`, `end` and `step` may each be left out. */
export function sliceSelector(start: number | null, end: number | null, step: number): Selector {
  return {
    singular: false,
    select: (run, node, into) => {
      if (!Array.isArray(node) || step === 0) return;
      const size = node.length;
      const first = bound(start ?? (step > 0 ? 0 : size - 1), size, step);
      const limit = end === null ? (step > 0 ? size : -1) : bound(end, size, step);
      for (let i = first; step > 0 ? i < limit : i > limit; i += step) {
        run.spend(1);
        addPresent(node[i], into);
      }
    },
  };
}

function bound(index: number, size: number, step: number): number {
  const place = index >= 0 ? index : size + index;
  return step > 0 ? Math.min(Math.max(place, 0), size) : Math.min(Math.max(place, -1), size - 1);
}

export function filterSelector(test: PathTest): Selector {
  return {
    singular: false,
    select: (run, node, into) => {
      for (const child of childrenOf(node)) {
        run.spend(1);
        if (test(run, child)) into.push(child);
      }
    },
  };
}

function childrenOf(node: Json): Json[] {
  if (typeof node !== 'object' || node === null) return [];
  return Array.isArray(node) ? node : Object.values(node);
}

/** A query that begins at `$`. */
export function absoluteQuery(segments: readonly Segment[]): Query {
  const [first, ...rest] = segments;
  if (first === undefined) return { singular: true, nodes: (run) => [run.frame.self] };
  const continued = rest.map(applySegment);
  const start = first.descendant ? null : first.selectors;
  return {
    singular: isSingular(segments),
    nodes: (run) => {
      const nodes = start === null ? applySegment(first)(run, [run.frame.self]) : selectFromScope(run, start);
      return applyAll(run, continued, nodes);
    },
  };
}

/** A query that begins at `@`. */
export function relativeQuery(segments: readonly Segment[]): Query {
  const steps = segments.map(applySegment);
  return { singular: isSingular(segments), nodes: (run, current) => applyAll(run, steps, [current]) };
}

function isSingular(segments: readonly Segment[]): boolean {
  return segments.every(
    ({ descendant, selectors }) => !descendant && selectors.length === 1 && selectors[0]?.singular === true,
  );
}

type Step = (run: PathRun, nodes: Json[]) => Json[];

function applyAll(run: PathRun, steps: readonly Step[], nodes: Json[]): Json[] {
  let found = nodes;
  for (const step of steps) {
    if (found.length === 0) return found;
    found = step(run, found);
  }
  return found;
}

function selectFromScope(run: PathRun, selectors: readonly Selector[]): Json[] {
  const found: Json[] = [];
  for (const selector of selectors) {
    if (selector.selectFromScope !== undefined) selector.selectFromScope(run, found);
    else selector.select(run, run.frame.self, found);
  }
  return found;
}

function applySegment({ descendant, selectors }: Segment): Step {
  const step: Step = (run, nodes) => {
    const found: Json[] = [];
    for (const node of nodes) {
      run.spend(1);
      for (const selector of selectors) selector.select(run, node, found);
    }
    return found;
  };
  return descendant ? (run, nodes) => step(run, withDescendants(run, nodes)) : step;
}

/** Each node and all below it, a node before its children, children in their order (RFC 9535 section 2.5.2.2). */
function withDescendants(run: PathRun, nodes: readonly Json[]): Json[] {
  const visited: Json[] = [];
  const open = nodes.toReversed();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    run.spend(1);
    visited.push(node);
    const children = childrenOf(node);
    for (let i = children.length - 1; i >= 0; i--) {
      const child = children[i];
      if (child !== undefined) open.push(child);
    }
  }
  return visited;
}
