import type { Json } from '../contract/json.ts';
import type { PathNodes, PathRun, PathTest, PathValue } from './json-path-run.ts';
import { compilePattern, patternTakes } from './pattern.ts';

/** What an argument of a function, or a side of a comparison, is (RFC 9535 section 2.4.1, types). */
export type Argument =
  | { readonly kind: 'value'; readonly value: PathValue }
  | { readonly kind: 'nodes'; readonly nodes: PathNodes; readonly singular: boolean };

export type FunctionResult =
  | { readonly kind: 'value'; readonly value: PathValue }
  | { readonly kind: 'test'; readonly test: PathTest };

interface PathFunction {
  readonly parameters: readonly ('value' | 'nodes')[];
  readonly make: (values: readonly PathValue[], nodes: readonly PathNodes[]) => FunctionResult;
}

const nothing: PathValue = () => undefined;
const noNodes: PathNodes = () => [];

/** The functions of RFC 9535 sections 2.4.4 to 2.4.8, by name. */
export const pathFunctions: ReadonlyMap<string, PathFunction> = new Map<string, PathFunction>([
  [
    'length',
    {
      parameters: ['value'],
      make: ([value = nothing]) => ({ kind: 'value', value: (run, node) => lengthOf(run, value(run, node)) }),
    },
  ],
  [
    'count',
    {
      parameters: ['nodes'],
      make: (_, [nodes = noNodes]) => ({ kind: 'value', value: (run, node) => nodes(run, node).length }),
    },
  ],
  [
    'value',
    {
      parameters: ['nodes'],
      make: (_, [nodes = noNodes]) => ({ kind: 'value', value: (run, node) => onlyOne(nodes(run, node)) }),
    },
  ],
  ['match', patternFunction('whole')],
  ['search', patternFunction('part')],
]);

function lengthOf(run: PathRun, value: Json | undefined): number | undefined {
  if (typeof value === 'string') return codePointCount(run, value);
  if (typeof value !== 'object' || value === null) return undefined;
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

function codePointCount(run: PathRun, text: string): number {
  run.spend(text.length);
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** The value of a list of one node, else Nothing. */
export function onlyOne(nodes: readonly Json[]): Json | undefined {
  return nodes.length === 1 ? nodes[0] : undefined;
}

function patternFunction(extent: 'whole' | 'part'): PathFunction {
  return {
    parameters: ['value', 'value'],
    make: ([text = nothing, pattern = nothing]) => ({
      kind: 'test',
      test: (run, node) => takes(run, text(run, node), pattern(run, node), extent),
    }),
  };
}

function takes(
  run: PathRun,
  text: Json | undefined,
  pattern: Json | undefined,
  extent: 'whole' | 'part',
): boolean {
  if (typeof text !== 'string' || typeof pattern !== 'string') return false;
  run.spend(pattern.length);
  const compiled = compilePattern(pattern);
  return compiled !== null && patternTakes(compiled, text, extent, run.spend);
}
