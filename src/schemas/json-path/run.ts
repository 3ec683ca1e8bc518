/**
 * An evaluation of a path, and the traversal of values in it. Each visited value takes a step from the build's budget, and the
 * work can pause between two of them.
 */
import { isJsonObject, type Json } from '../../contract/json.ts';
import { namesOf } from '../../contract/large-json/parse-in-parts.ts';
import {
  chain,
  forEach,
  type Resumable,
  repeat,
  type Steps,
  Suspended,
} from '../../lib/cooperative-yield.ts';
import type { Evaluate, Frame } from '../language/scope.ts';

/** Thrown within the evaluation of a path when the budget of the build is used up, and caught at its start. */
class OutOfSteps extends Error {}

/** One evaluation of a path, with its frame and the budget of its build. */
export class PathRun {
  readonly frame: Frame;
  #filled: Map<Evaluate, Json> | null = null;

  constructor(frame: Frame) {
    this.frame = frame;
  }

  /** @throws OutOfSteps */
  readonly spend = (steps: number): void => {
    if (!this.frame.build.spend(steps)) throw new OutOfSteps();
  };

  /** The value of a hole, cached during the run, so that a filter over many values does not build a long string for each. */
  filled(hole: Evaluate): Json {
    this.#filled ??= new Map();
    const known = this.#filled.get(hole);
    if (known !== undefined) return known;
    const value = hole(this.frame);
    this.#filled.set(hole, value);
    return value;
  }
}

/** The nodes that `work` selects; none if the budget is used up, which the build reports. */
export function within(
  frame: Frame,
  work: (run: PathRun) => Resumable<readonly Json[]>,
): Resumable<readonly Json[]> {
  try {
    const made = work(new PathRun(frame));
    return made instanceof Suspended ? new Suspended(withinLater(made.steps)) : made;
  } catch (error) {
    return nothingLeft(error);
  }
}

function* withinLater(steps: Steps<readonly Json[]>): Steps<readonly Json[]> {
  try {
    return yield* steps;
  } catch (error) {
    return nothingLeft(error);
  }
}

function nothingLeft(error: unknown): readonly Json[] {
  if (error instanceof OutOfSteps) return [];
  throw error;
}

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

interface Slice {
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
