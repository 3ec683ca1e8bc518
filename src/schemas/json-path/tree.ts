import { type JSONPathQuery, jsonpath, TokenKind } from 'json-p3';
import type { Evaluate } from '../language/scope.ts';
import { Comparison, HoleLiteral, ScopeQuery } from './expressions.ts';
import { type LongExpression, NestedQuery, PatternTest } from './long-expressions.ts';
import type { PathEnvironment } from './path-environment.ts';
import { ConditionSelector, DescentToll, KeySelector, MeteredSelector, type ReadName } from './selectors.ts';
import { filledLiteral } from './text.ts';

const {
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
type Selector = jsonpath.JSONPathSelector;

/** What the library cannot know about a path. */
export interface PathMeaning {
  readonly environment: PathEnvironment;
  readonly holes: readonly Evaluate[];
  /** How a name of the scope is read; null when there is none. */
  readonly find: (name: string) => ReadName | null;
  /** Makes the mistake that `name`, at a place of the JSONPath, is not a name of the scope. */
  readonly unknownName: (name: string, place: number) => Error;
}

/**
 * Gives a parsed path the meaning it has in a schema: names after `$` are those of the scope, holes are filled, every
 * selector pays the budget. Changes the segments of the path itself.
 */
export class PathTree {
  readonly #meaning: PathMeaning;
  /** Those of the condition that is adapted now. */
  #long: LongExpression[] = [];

  constructor(meaning: PathMeaning) {
    this.#meaning = meaning;
  }

  /** @throws SyntaxMistake for a name after `$` that is none of the scope */
  adapt(query: JSONPathQuery, base: '$' | '@'): JSONPathQuery {
    for (const [index, { selectors, token }] of query.segments.entries()) {
      const descends = token.kind === TokenKind.DDOT;
      const atRoot = base === '$' && index === 0 && !descends;
      const adapted = selectors.map((selector) => this.#selector(selector, atRoot));
      if (descends) adapted.unshift(new DescentToll(this.#meaning.environment, token));
      selectors.splice(0, selectors.length, ...adapted);
    }
    return query;
  }

  #selector(parsed: Selector, atRoot: boolean): Selector {
    const { environment } = this.#meaning;
    if (parsed instanceof NameSelector) return this.#name(parsed, atRoot);
    if (!(parsed instanceof FilterSelector)) return new MeteredSelector(environment, parsed);
    const around = this.#long;
    const long: LongExpression[] = [];
    this.#long = long;
    const { expression } = parsed;
    const condition = new LogicalExpression(expression.token, this.#expression(expression.expression));
    this.#long = around;
    return new ConditionSelector(environment, parsed, condition, long);
  }

  #name(parsed: jsonpath.selectors.NameSelector, atRoot: boolean): Selector {
    const { environment, holes, find, unknownName } = this.#meaning;
    const { name, token } = parsed;
    const filled = filledLiteral(name, holes);
    if (filled !== null) return new KeySelector(environment, token, filled, atRoot ? find : null);
    const key = () => name;
    if (!atRoot) return new KeySelector(environment, token, key, null);
    const read = find(name);
    if (read === null) throw unknownName(name, token.index);
    return new KeySelector(environment, token, key, () => read);
  }

  #expression(parsed: Expression): Expression {
    const { environment, holes } = this.#meaning;
    const { token } = parsed;
    if (parsed instanceof StringLiteral) {
      const literal = filledLiteral(parsed.value, holes);
      return literal === null ? parsed : new HoleLiteral(environment, token, literal);
    }
    if (parsed instanceof InfixExpression) return this.#infix(parsed);
    if (parsed instanceof PrefixExpression) {
      return new PrefixExpression(token, parsed.operator, this.#expression(parsed.right));
    }
    if (parsed instanceof FunctionExtension) {
      const args = parsed.args.map((arg) => this.#expression(arg));
      const isPattern = parsed.name === 'match' || parsed.name === 'search';
      if (isPattern) return this.#made(new PatternTest(environment, parsed, args));
      return new FunctionExtension(token, parsed.name, args);
    }
    if (parsed instanceof RootQuery) return this.#query(parsed, '$');
    return parsed instanceof RelativeQuery ? this.#query(parsed, '@') : parsed;
  }

  #query(parsed: jsonpath.expressions.FilterQuery, base: '$' | '@'): Expression {
    const { environment } = this.#meaning;
    const { token } = parsed;
    const isSingular = parsed.path.singularQuery();
    const path = this.adapt(parsed.path, base);
    if (!isSingular) return this.#made(new NestedQuery(environment, token, base, path));
    return base === '$' ? new ScopeQuery(environment, token, path) : parsed;
  }

  #made(expression: LongExpression): Expression {
    this.#long.push(expression);
    return expression;
  }

  #infix(parsed: jsonpath.expressions.InfixExpression): Expression {
    const left = this.#expression(parsed.left);
    const right = this.#expression(parsed.right);
    if (parsed.logical) return new InfixExpression(parsed.token, left, parsed.operator, right);
    return new Comparison(this.#meaning.environment, parsed, left, right);
  }
}
