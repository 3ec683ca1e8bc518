/**
 * The parts of a condition that may go over megabytes on one element. The library evaluates a condition at once. So their
 * values are made before that, in steps.
 */
import { type JSONPathNode, JSONPathNodeList, type JSONPathQuery, jsonpath, type Token } from 'json-p3';
import { type Resumable, Suspended, workBudget } from '../../lib/cooperative-yield.ts';
import { operandValue } from './compare.ts';
import { compilePattern, type Extent, patternTakes } from './i-regexp.ts';
import type { PathEnvironment } from './path-environment.ts';
import type { Walk } from './selectors.ts';
import { walkOf } from './walk.ts';

const { FilterExpression } = jsonpath.expressions;

type Context = jsonpath.FilterContext;

/** An expression whose value is made before its condition is evaluated. */
export abstract class LongExpression extends FilterExpression {
  protected readonly environment: PathEnvironment;

  constructor(environment: PathEnvironment, token: Token) {
    super(token);
    this.environment = environment;
  }

  /** Makes the value for the next evaluation. Nulls alone: here it may pause. */
  abstract prepare(context: Context): Walk;

  override evaluate(): unknown {
    return this.environment.run.prepared(this);
  }
}

/** A query in a condition that may select more than one node. */
export class NestedQuery extends LongExpression {
  /** @param base where it begins: at the element, or at the scope's root */
  constructor(
    environment: PathEnvironment,
    token: Token,
    private readonly base: '@' | '$',
    private readonly path: JSONPathQuery,
  ) {
    super(environment, token);
  }

  override *prepare({ currentValue }: Context): Walk {
    const { run } = this.environment;
    const nodes: JSONPathNode[] = [];
    for (const node of walkOf(this.path, this.base === '$' ? run.frame.self : currentValue)) {
      if (node !== null) nodes.push(node);
      if (node === null || workBudget.isOver()) yield null;
    }
    run.prepare(this, new JSONPathNodeList(nodes));
  }

  override toString(): string {
    return `${this.base}${this.path.toString().slice(1)}`;
  }
}

/**
 * `match` or `search` (RFC 9535 sections 2.4.6 and 2.4.7): what is not a string, or no pattern, is false. On our own patterns:
 * those of the library are JavaScript's, which need exponential time for some.
 */
export class PatternTest extends LongExpression {
  constructor(
    environment: PathEnvironment,
    private readonly call: jsonpath.expressions.FunctionExtension,
    private readonly args: readonly jsonpath.expressions.FilterExpression[],
  ) {
    super(environment, call.token);
  }

  override *prepare(context: Context): Walk {
    const { run } = this.environment;
    const [text, pattern] = this.args.map((arg) => operandValue(arg.evaluate(context)));
    const taken = this.#takes(text, pattern);
    if (!(taken instanceof Suspended)) {
      run.prepare(this, taken);
      return;
    }
    for (let step = taken.steps.next(); ; step = taken.steps.next()) {
      if (step.done) return run.prepare(this, step.value);
      yield null;
    }
  }

  #takes(text: unknown, pattern: unknown): Resumable<boolean> {
    if (typeof text !== 'string' || typeof pattern !== 'string') return false;
    const { spend } = this.environment.run;
    spend(pattern.length);
    const compiled = compilePattern(pattern);
    const extent: Extent = this.call.name === 'match' ? 'whole' : 'part';
    return compiled !== null && patternTakes(compiled, text, extent, spend);
  }

  override toString(): string {
    return this.call.toString();
  }
}
