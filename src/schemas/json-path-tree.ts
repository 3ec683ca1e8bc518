import { JSONPathNodeList, JSONPathQuery, jsonpath, TokenKind } from 'json-p3';
import { compareValues, operandValue } from './json-path-compare.ts';
import type { PathEnvironment } from './json-path-environment.ts';
import { type FindName, KeySelector, MeteredSelector } from './json-path-selectors.ts';
import type { PathRun } from './json-path-run.ts';
import { filledLiteral } from './json-path-text.ts';
import type { Evaluate } from './scope.ts';
import { valueText } from './value-text.ts';

const {
  FilterExpressionLiteral,
  FunctionExtension,
  InfixExpression,
  LogicalExpression,
  PrefixExpression,
  RelativeQuery,
  RootQuery,
  StringLiteral,
} = jsonpath.expressions;
const { FilterSelector, NameSelector } = jsonpath.selectors;

type Expression = jsonpath.expressions.FilterExpression;
type Context = jsonpath.FilterContext;

/** What the library cannot know about a path. */
export interface PathMeaning {
  readonly environment: PathEnvironment;
  readonly holes: readonly Evaluate[];
  /** @throws SyntaxMistake for a name that can never be there; `place` is its place in the JSONPath */
  readonly findAt: (name: string, place: number) => ReturnType<FindName>;
  readonly find: FindName;
}

/**
 * Gives a parsed path the meaning it has in a schema: names behind `$` are those of the scope, holes are filled,
 * every selector pays the budget. Changes the path's own segments.
 */
export class PathTree {
  readonly #meaning: PathMeaning;

  constructor(meaning: PathMeaning) {
    this.#meaning = meaning;
  }

  /** @throws SyntaxMistake */
  adapt(query: JSONPathQuery, base: '$' | '@'): JSONPathQuery {
    for (const [index, { selectors, token }] of query.segments.entries()) {
      const atRoot = base === '$' && index === 0 && token.kind !== TokenKind.DDOT;
      const adapted = selectors.map((selector) => this.#selector(selector, atRoot));
      selectors.splice(0, selectors.length, ...adapted);
    }
    return query;
  }

  #selector(parsed: jsonpath.JSONPathSelector, atRoot: boolean): jsonpath.JSONPathSelector {
    const { environment } = this.#meaning;
    if (parsed instanceof NameSelector) return this.#name(parsed, atRoot);
    if (!(parsed instanceof FilterSelector)) return new MeteredSelector(environment, parsed);
    const { token, expression } = parsed;
    const condition = new LogicalExpression(expression.token, this.#expression(expression.expression));
    return new MeteredSelector(environment, new FilterSelector(environment, token, condition));
  }

  #name(parsed: jsonpath.selectors.NameSelector, atRoot: boolean): jsonpath.JSONPathSelector {
    const { environment, holes, find, findAt } = this.#meaning;
    const { name, token } = parsed;
    const filled = filledLiteral(name, holes);
    if (filled !== null) return new KeySelector(environment, parsed, filled, atRoot ? find : null);
    if (!atRoot) return new KeySelector(environment, parsed, () => name, null);
    const read = findAt(name, token.index);
    return new KeySelector(environment, parsed, () => name, () => read);
  }

  #expression(parsed: Expression): Expression {
    const { environment, holes } = this.#meaning;
    if (parsed instanceof StringLiteral) {
      const hole = filledLiteral(parsed.value, holes);
      return hole === null ? parsed : new HoleLiteral(parsed, environment, hole);
    }
    if (parsed instanceof InfixExpression) {
      const left = this.#expression(parsed.left);
      const right = this.#expression(parsed.right);
      const Infix = parsed.logical ? InfixExpression : Comparison;
      return new Infix(parsed.token, left, parsed.operator, right);
    }
    if (parsed instanceof PrefixExpression) {
      return new PrefixExpression(parsed.token, parsed.operator, this.#expression(parsed.right));
    }
    if (parsed instanceof FunctionExtension) {
      const args = parsed.args.map((arg) => this.#expression(arg));
      return new FunctionExtension(parsed.token, parsed.name, args);
    }
    if (parsed instanceof RootQuery) return new ScopeQuery(parsed.token, this.adapt(parsed.path, '$'));
    if (parsed instanceof RelativeQuery) this.adapt(parsed.path, '@');
    return parsed;
  }
}
