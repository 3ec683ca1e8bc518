import type { Json } from '../../contract/json.ts';
import type { Evaluate, Frame } from '../language/scope.ts';

/** Thrown inside a path's evaluation when the build may do no more work; caught where the evaluation began. */
export class OutOfSteps extends Error {}

/** One evaluation of a path: where its holes and its `$` are read, and what it may still spend. */
export class PathRun {
  readonly frame: Frame;
  readonly #filled = new Map<Evaluate, Json>();
  readonly #prepared = new Map<object, unknown>();

  constructor(frame: Frame) {
    this.frame = frame;
  }

  /** @throws OutOfSteps */
  readonly spend = (steps: number): void => {
    if (!this.frame.build.spend(steps)) throw new OutOfSteps();
  };

  /** The value of a hole, kept for the whole run: a filter over many nodes must not build a long text for each of them. */
  filled(hole: Evaluate): Json {
    const known = this.#filled.get(hole);
    if (known !== undefined) return known;
    const value = hole(this.frame);
    this.#filled.set(hole, value);
    return value;
  }

  /** Keeps the value of a part of a condition for its next evaluation. */
  prepare(part: object, value: unknown): void {
    this.#prepared.set(part, value);
  }

  /** What was kept last. */
  prepared(part: object): unknown {
    return this.#prepared.get(part);
  }
}
