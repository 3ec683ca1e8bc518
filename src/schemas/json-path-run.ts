import type { Json } from '../contract/json.ts';
import type { Frame } from './scope.ts';

/** Thrown inside a path's evaluation when the build may do no more work; caught where the evaluation began. */
export class OutOfSteps extends Error {}

/** One evaluation of a path: where its holes and its `$` are read, and what it may still spend. */
export class PathRun {
  readonly frame: Frame;

  constructor(frame: Frame) {
    this.frame = frame;
  }

  /** @throws OutOfSteps */
  readonly spend = (steps: number): void => {
    if (!this.frame.build.spend(steps)) throw new OutOfSteps();
  };
}

/** A value in a filter; undefined is RFC 9535's Nothing. */
export type PathValue = (run: PathRun, current: Json) => Json | undefined;
export type PathTest = (run: PathRun, current: Json) => boolean;
export type PathNodes = (run: PathRun, current: Json) => Json[];
