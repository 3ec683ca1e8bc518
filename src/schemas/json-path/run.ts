import type { Json } from '../../contract/json.ts';
import { type Resumable, type Steps, Suspended } from '../../lib/cooperative-yield.ts';
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
