import { type FilterFunction, FunctionExpressionType, JSONPathEnvironment, Nothing } from 'json-p3';
import { jsonDepthMax } from '../../contract/limits.ts';
import { countCodePoints } from '../../lib/code-points.ts';
import { compilePattern, patternTakes } from './i-regexp.ts';
import type { PathRun } from './run.ts';

const { LogicalType, ValueType } = FunctionExpressionType;

/**
 * The library's environment for one path, with the run that is under way: selectors and functions are called without
 * any context of ours. Evaluations of one path may pause for each other; one of them is under way at a time.
 *
 * `match` and `search` run on our own patterns: those of the library are JavaScript's, which need exponential time for
 * some patterns. Pattern and text may both come from an entity. `length` counts characters, not UTF-16 units.
 */
export class PathEnvironment extends JSONPathEnvironment {
  #run: PathRun | null = null;

  constructor() {
    // Deeper than any value: an entity holds its properties two levels down, a lookup lists entities.
    super({ maxRecursionDepth: jsonDepthMax + 50 });
    const length = (value: unknown) => lengthOf(this.run, value);
    this.functionRegister.set('length', { argTypes: [ValueType], returnType: ValueType, call: length });
    this.functionRegister.set('match', this.#patternFunction('whole'));
    this.functionRegister.set('search', this.#patternFunction('part'));
  }

  /** The run under way. */
  get run(): PathRun {
    if (this.#run === null) throw new Error('a path is evaluated outside a run');
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

  #patternFunction(extent: 'whole' | 'part'): FilterFunction {
    return {
      argTypes: [ValueType, ValueType],
      returnType: LogicalType,
      call: (text: unknown, pattern: unknown) => takes(this.run, text, pattern, extent),
    };
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

/** RFC 9535 sections 2.4.6 and 2.4.7: what is no text, or no pattern, is false. */
function takes(run: PathRun, text: unknown, pattern: unknown, extent: 'whole' | 'part'): boolean {
  if (typeof text !== 'string' || typeof pattern !== 'string') return false;
  run.spend(pattern.length);
  const compiled = compilePattern(pattern);
  return compiled !== null && patternTakes(compiled, text, extent, run.spend);
}
