import { FunctionExpressionType, JSONPathEnvironment, Nothing } from 'json-p3';
import { jsonDepthMax } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { countCodePoints } from '../../lib/code-points.ts';
import type { PathRun } from './run.ts';

const { ValueType } = FunctionExpressionType;

/**
 * The library's environment for one path, with the run that is under way: selectors and functions are called without
 * any context of ours. Evaluations of one path may pause for each other; one of them is under way at a time.
 * `length` counts characters, not UTF-16 units.
 */
export class PathEnvironment extends JSONPathEnvironment {
  #run: PathRun | null = null;

  constructor() {
    // Deeper than any value: an entity holds its properties two levels down, a lookup lists entities.
    super({ maxRecursionDepth: jsonDepthMax + 50 });
    const length = (value: unknown) => lengthOf(this.run, value);
    this.functionRegister.set('length', { argTypes: [ValueType], returnType: ValueType, call: length });
  }

  /** The run under way. */
  get run(): PathRun {
    assert(this.#run !== null, 'a path is evaluated within a run');
    return this.#run;
  }

  /** Lets `work` go on in a run: until it ends or pauses. */
  within<T>(run: PathRun, work: () => T): T {
    this.#run = run;
    try {
      return work();
    } finally {
      this.#run = null;
    }
  }
}

/** RFC 9535 section 2.4.4. */
function lengthOf(run: PathRun, value: unknown): number | typeof Nothing {
  if (typeof value === 'string') {
    run.spend(value.length);
    return countCodePoints(value);
  }
  if (typeof value !== 'object' || value === null) return Nothing;
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}
