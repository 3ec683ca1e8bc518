import type { Json } from '../contract/json.ts';
import { joinParts } from './expression.ts';
import { type Argument, type FunctionResult, onlyOne } from './json-path-functions.ts';
import type { PathValue } from './json-path-run.ts';
import type { PathString } from './json-path-string.ts';
import type { Evaluate } from './scope.ts';
import { valueText } from './value-text.ts';

/** One side of a comparison, an argument, or a condition alone: what it may be used as is known when it is parsed. */
export type Operand = Argument | FunctionResult;

export function valueOfSingle({ nodes }: Argument & { kind: 'nodes' }): PathValue {
  return (run, current) => onlyOne(nodes(run, current));
}

export function constantOperand(value: string | number | boolean | null): Operand {
  return { kind: 'value', value: () => value };
}

/** A hole alone: scalars keep their type, arrays and objects are their JSON text. */
export function holeOperand(hole: Evaluate): Operand {
  return { kind: 'value', value: ({ frame }) => literalOf(hole(frame)) };
}

function literalOf(value: Json): Json {
  return typeof value === 'object' ? valueText(value) : value;
}

export function stringOperand({ constant, parts }: PathString): Operand {
  if (constant !== null) return constantOperand(constant);
  return { kind: 'value', value: ({ frame }) => joinParts(parts, frame) };
}
