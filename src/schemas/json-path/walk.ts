/**
 * Traversal of values. Each visited value takes a step from the build's budget, and the work can pause between two of them.
 */
import { isJsonObject, type Json } from '../../contract/json.ts';
import { namesOf } from '../../contract/large-json/parse-in-parts.ts';
import { chain, forEach, type Resumable, repeat } from '../../lib/cooperative-yield.ts';
import type { PathRun } from './run.ts';

type Visit = (child: Json) => Resumable<void>;

export function eachChild(value: Json, run: PathRun, visit: Visit): Resumable<void> {
  run.spend(1);
  const paid = (child: Json): Resumable<void> => {
    run.spend(1);
    return visit(child);
  };
  if (Array.isArray(value)) return forEach(value, paid);
  if (isJsonObject(value)) return forEach(namesOf(value), (name) => paid(value[name] ?? null));
}

/** The values and all their descendants, in preorder. */
export function withDescendants(values: readonly Json[], run: PathRun): Resumable<readonly Json[]> {
  const found: Json[] = [];
  const visit = (value: Json): Resumable<void> => {
    found.push(value);
    return eachChild(value, run, visit);
  };
  return chain(forEach(values, visit), () => found);
}

export interface Slice {
  readonly start?: number | undefined;
  readonly stop?: number | undefined;
  readonly step?: number | undefined;
}

/** RFC 9535 section 2.3.4.2.2. */
export function eachOfSlice(
  { start, stop, step = 1 }: Slice,
  value: Json,
  run: PathRun,
  visit: Visit,
): Resumable<void> {
  run.spend(1);
  if (!Array.isArray(value) || step === 0) return;
  const { length } = value;
  const [first, last] = step > 0 ? [0, length] : [length - 1, -1];
  const place = (index: number): number => {
    const fromStart = index < 0 ? index + length : index;
    return Math.min(Math.max(fromStart, Math.min(first, last)), Math.max(first, last));
  };
  const from = start === undefined ? first : place(start);
  const end = stop === undefined ? last : place(stop);
  return repeat((count) => {
    const at = from + count * step;
    if (step > 0 ? at >= end : at <= end) return false;
    run.spend(1);
    return chain(visit(value[at] ?? null), () => true);
  });
}
