import { JSONPathNodeList, type JSONPathQuery, jsonpath, type Token } from 'json-p3';
import type { Evaluate } from '../language/scope.ts';
import { compareValues, operandValue } from './compare.ts';
import type { PathEnvironment } from './path-environment.ts';

const { FilterExpression, FilterExpressionLiteral, RootQuery } = jsonpath.expressions;

type Expression = jsonpath.expressions.FilterExpression;

/** A literal that a hole gives. */
export class HoleLiteral extends FilterExpressionLiteral {
  readonly #environment: PathEnvironment;
  readonly #literal: Evaluate;

  constructor(environment: PathEnvironment, token: Token, literal: Evaluate) {
    super(token);
    this.#environment = environment;
    this.#literal = literal;
  }

  override evaluate(): unknown {
    return this.#environment.run.filled(this.#literal);
  }

  override toString(): string {
    return '{…}';
  }
}

/** `left operator right`, compared by our own rules. */
export class Comparison extends FilterExpression {
  readonly #environment: PathEnvironment;
  readonly #left: Expression;
  readonly #operator: string;
  readonly #right: Expression;

  constructor(
    environment: PathEnvironment,
    parsed: jsonpath.expressions.InfixExpression,
    left: Expression,
    right: Expression,
  ) {
    super(parsed.token);
    this.#environment = environment;
    this.#operator = parsed.operator;
    this.#left = left;
    this.#right = right;
  }

  override evaluate(context: jsonpath.FilterContext): boolean {
    const left = operandValue(this.#left.evaluate(context));
    const right = operandValue(this.#right.evaluate(context));
    return compareValues(left, this.#operator, right, this.#environment.run.spend);
  }

  override toString(): string {
    return `${this.#left.toString()} ${this.#operator} ${this.#right.toString()}`;
  }
}

/** A query that begins at `$`; the library would begin it at the nearest `@` where filters are in filters. */
export class ScopeQuery extends RootQuery {
  readonly #environment: PathEnvironment;

  constructor(environment: PathEnvironment, token: Token, path: JSONPathQuery) {
    super(token, path);
    this.#environment = environment;
  }

  override evaluate(): JSONPathNodeList {
    return new JSONPathNodeList([...this.path.lazyQuery(this.#environment.run.frame.self)]);
  }
}
