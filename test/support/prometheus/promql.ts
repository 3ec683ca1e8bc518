/**
 * Evaluates the part of PromQL that the alert rules use, on scraped samples. Everything else throws, so a rule that it cannot
 * parse fails its test. Unlike in Prometheus, rates are not extrapolated to the ends of their window.
 */
import assert from 'node:assert/strict';
import type { Sample } from '../prometheus-text.ts';

/** The samples of one target, or its failure. */
export interface Scrape {
  readonly instance: string;
  readonly atMs: number;
  readonly samples: readonly Sample[];
}

type Labels = ReadonlyMap<string, string>;

export interface Point {
  readonly labels: Labels;
  readonly value: number;
}

interface Series {
  readonly labels: Labels;
  readonly points: readonly { readonly atMs: number; readonly value: number }[];
}

type Value = number | readonly Point[];

const tokenPattern =
  /\s*(?:(\d+[smhd](?![\w]))|(\d+(?:\.\d+)?)|([a-zA-Z_:][\w:]*)|"((?:[^"\\]|\\.)*)"|(=~|!~|==|!=|>=|<=|[-+*/<>=(){}[\],]))/y;
const comparisons = ['==', '!=', '>=', '<=', '>', '<'];
const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

interface Token {
  readonly kind: 'duration' | 'number' | 'name' | 'text' | 'sign';
  readonly text: string;
}

/** The value of an expression at a time: the series for which an alert fires. */
export function evaluate(expression: string, scrapes: readonly Scrape[], atMs: number): readonly Point[] {
  const parser = new Evaluation(tokensOf(expression), scrapes, atMs);
  const value = parser.all();
  assert.ok(typeof value !== 'number', `a number, not a vector: ${expression}`);
  return value;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  tokenPattern.lastIndex = 0;
  const trimmed = text.trimEnd();
  while (tokenPattern.lastIndex < trimmed.length) {
    const at = tokenPattern.lastIndex;
    const found = tokenPattern.exec(trimmed);
    assert.ok(found !== null, `cannot be parsed: ${trimmed.slice(at)}`);
    const kinds = ['duration', 'number', 'name', 'text', 'sign'] as const;
    const place = found.slice(1).findIndex((part) => part !== undefined);
    tokens.push({ kind: kinds[place] ?? 'sign', text: found[place + 1] ?? '' });
  }
  return tokens;
}

class Evaluation {
  #at = 0;

  constructor(
    private readonly tokens: readonly Token[],
    private readonly scrapes: readonly Scrape[],
    private readonly atMs: number,
  ) {}

  all(): Value {
    const value = this.#and();
    assert.equal(this.#at, this.tokens.length, `left over: ${this.tokens[this.#at]?.text}`);
    return value;
  }

  #and(): Value {
    let left = this.#comparison();
    while (this.#takes('and')) {
      const right = vectorOf(this.#comparison());
      const there = new Set(right.map(({ labels }) => keyOf(labels)));
      left = vectorOf(left).filter(({ labels }) => there.has(keyOf(labels)));
    }
    return left;
  }

  #comparison(): Value {
    const left = this.#sum();
    const sign = comparisons.find((one) => this.#takes(one));
    if (sign === undefined) return left;
    const right = this.#sum();
    const holds = (a: number, b: number) =>
      ({ '==': a === b, '!=': a !== b, '>=': a >= b, '<=': a <= b, '>': a > b, '<': a < b })[sign] ?? false;
    return paired(vectorOf(left), right, (a, b) => (holds(a, b) ? a : null));
  }

  #sum(): Value {
    let left = this.#product();
    for (;;) {
      if (this.#takes('+')) left = calculated(left, this.#product(), (a, b) => a + b);
      else if (this.#takes('-')) left = calculated(left, this.#product(), (a, b) => a - b);
      else return left;
    }
  }

  #product(): Value {
    let left = this.#primary();
    for (;;) {
      if (this.#takes('*')) left = calculated(left, this.#primary(), (a, b) => a * b);
      else if (this.#takes('/')) left = calculated(left, this.#primary(), (a, b) => a / b);
      else return left;
    }
  }

  #primary(): Value {
    if (this.#takes('(')) {
      const value = this.#and();
      this.#expect(')');
      return value;
    }
    const { kind, text } = this.#next();
    if (kind === 'number') return Number(text);
    assert.equal(kind, 'name', `unexpected ${text}`);
    if (text === 'sum' || text === 'max' || text === 'min') return this.#aggregated(text);
    if (text === 'rate' || text === 'increase' || text === 'max_over_time' || text === 'min_over_time') {
      this.#expect('(');
      const series = this.#range();
      this.#expect(')');
      return overTime(text, series);
    }
    if (text === 'absent') {
      this.#expect('(');
      const value = vectorOf(this.#and());
      this.#expect(')');
      return value.length === 0 ? [{ labels: new Map(), value: 1 }] : [];
    }
    if (text === 'histogram_quantile') {
      this.#expect('(');
      const quantile = this.#and();
      this.#expect(',');
      const value = vectorOf(this.#and());
      this.#expect(')');
      assert.ok(typeof quantile === 'number');
      return quantiles(quantile, value);
    }
    assert.notEqual(this.tokens[this.#at]?.text, '(', `unknown function ${text}`);
    return this.#latest(text, this.#matchers());
  }

  #aggregated(how: 'sum' | 'max' | 'min'): Value {
    const by = this.#takes('by') ? this.#names() : [];
    this.#expect('(');
    const points = vectorOf(this.#and());
    this.#expect(')');
    const groups = new Map<string, { labels: Labels; values: number[] }>();
    for (const { labels, value } of points) {
      const kept = new Map(by.flatMap((name) => [[name, labels.get(name) ?? ''] as const]));
      const group = groups.get(keyOf(kept)) ?? { labels: kept, values: [] };
      group.values.push(value);
      groups.set(keyOf(kept), group);
    }
    const join = {
      sum: (values: number[]) => values.reduce((a, b) => a + b, 0),
      max: (values: number[]) => Math.max(...values),
      min: (values: number[]) => Math.min(...values),
    }[how];
    return [...groups.values()].map(({ labels, values }) => ({ labels, value: join(values) }));
  }

  #range(): Series[] {
    const { kind, text } = this.#next();
    assert.equal(kind, 'name', `a series is expected, not ${text}`);
    const matches = this.#matchers();
    this.#expect('[');
    const duration = this.#next();
    assert.equal(duration.kind, 'duration', `a duration is expected, not ${duration.text}`);
    this.#expect(']');
    const ms = Number.parseInt(duration.text, 10) * (unitsMs[duration.text.slice(-1)] ?? 0);
    const series = new Map<string, { labels: Labels; points: { atMs: number; value: number }[] }>();
    for (const scrape of this.scrapes.filter(({ atMs }) => atMs > this.atMs - ms && atMs <= this.atMs)) {
      for (const { labels, value } of found(scrape, text, matches)) {
        const one = series.get(keyOf(labels)) ?? { labels, points: [] };
        one.points.push({ atMs: scrape.atMs, value });
        series.set(keyOf(labels), one);
      }
    }
    return [...series.values()];
  }

  /** A series that is missing from the last scrape of its target is gone. */
  #latest(name: string, matches: (labels: Labels) => boolean): Point[] {
    const last = new Map<string, Scrape>();
    for (const scrape of this.scrapes) if (scrape.atMs <= this.atMs) last.set(scrape.instance, scrape);
    return [...last.values()].flatMap((scrape) => found(scrape, name, matches));
  }

  #matchers(): (labels: Labels) => boolean {
    const tests: ((labels: Labels) => boolean)[] = [];
    if (this.#takes('{')) {
      while (!this.#takes('}')) {
        const name = this.#next().text;
        const sign = this.#next().text;
        const { kind, text } = this.#next();
        assert.equal(kind, 'text', `a string is expected, not ${text}`);
        const pattern = new RegExp(`^(?:${text})$`);
        if (sign === '=') tests.push((labels) => (labels.get(name) ?? '') === text);
        else if (sign === '=~') tests.push((labels) => pattern.test(labels.get(name) ?? ''));
        else assert.fail(`unknown matcher ${sign}`);
        this.#takes(',');
      }
    }
    return (labels) => tests.every((holds) => holds(labels));
  }

  #names(): string[] {
    const names: string[] = [];
    this.#expect('(');
    while (!this.#takes(')')) {
      names.push(this.#next().text);
      this.#takes(',');
    }
    return names;
  }

  #takes(text: string): boolean {
    const token = this.tokens[this.#at];
    if (token === undefined || token.kind === 'text' || token.text !== text) return false;
    this.#at += 1;
    return true;
  }

  #expect(text: string): void {
    assert.ok(this.#takes(text), `${text} is expected, not ${this.tokens[this.#at]?.text}`);
  }

  #next(): Token {
    const token = this.tokens[this.#at];
    assert.ok(token !== undefined, 'the expression ends too early');
    this.#at += 1;
    return token;
  }
}

function found({ samples, instance }: Scrape, name: string, matches: (labels: Labels) => boolean): Point[] {
  return samples
    .filter((sample) => sample.name === name)
    .map(({ labels, value }) => ({ labels: new Map([...labels, ['instance', instance]]), value }))
    .filter(({ labels }) => matches(labels));
}

function overTime(how: 'rate' | 'increase' | 'max_over_time' | 'min_over_time', series: Series[]): Point[] {
  return series.flatMap(({ labels, points }) => {
    const values = points.map(({ value }) => value);
    if (how === 'max_over_time') return [{ labels, value: Math.max(...values) }];
    if (how === 'min_over_time') return [{ labels, value: Math.min(...values) }];
    const [first, last] = [points[0], points.at(-1)];
    if (first === undefined || last === undefined || points.length < 2) return [];
    let increase = 0;
    for (let at = 1; at < values.length; at += 1) {
      const [before = 0, now = 0] = [values[at - 1], values[at]];
      increase += now >= before ? now - before : now;
    }
    return [{ labels, value: how === 'increase' ? increase : increase / ((last.atMs - first.atMs) / 1_000) }];
  });
}

function quantiles(quantile: number, buckets: readonly Point[]): Point[] {
  const groups = new Map<string, { labels: Labels; buckets: { le: number; count: number }[] }>();
  for (const { labels, value } of buckets) {
    const others = new Map([...labels].filter(([name]) => name !== 'le'));
    const group = groups.get(keyOf(others)) ?? { labels: others, buckets: [] };
    const le = labels.get('le') ?? '';
    group.buckets.push({ le: le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), count: value });
    groups.set(keyOf(others), group);
  }
  return [...groups.values()].flatMap(({ labels, buckets }) => {
    const sorted = buckets.toSorted((a, b) => a.le - b.le);
    const rank = quantile * (sorted.at(-1)?.count ?? 0);
    const at = sorted.findIndex(({ count }) => count >= rank);
    const [bucket, before] = [sorted[at], sorted[at - 1] ?? { le: 0, count: 0 }];
    if (bucket === undefined || rank === 0) return [];
    if (bucket.le === Number.POSITIVE_INFINITY) return [{ labels, value: before.le }];
    const share = (rank - before.count) / (bucket.count - before.count);
    return [{ labels, value: before.le + (bucket.le - before.le) * share }];
  });
}

function calculated(left: Value, right: Value, join: (a: number, b: number) => number): Value {
  if (typeof left !== 'number') return paired(left, right, join);
  return typeof right === 'number' ? join(left, right) : paired(right, left, (a, b) => join(b, a));
}

/** Pairs series with the same labels, or each with a number; null drops one. */
function paired(
  left: readonly Point[],
  right: Value,
  join: (a: number, b: number) => number | null,
): Point[] {
  const values =
    typeof right === 'number' ? null : new Map(right.map(({ labels, value }) => [keyOf(labels), value]));
  return left.flatMap(({ labels, value }) => {
    const other = typeof right === 'number' ? right : values?.get(keyOf(labels));
    const joined = other === undefined ? null : join(value, other);
    return joined === null ? [] : [{ labels, value: joined }];
  });
}

function vectorOf(value: Value): readonly Point[] {
  assert.ok(typeof value !== 'number', 'a vector is expected, not a number');
  return value;
}

function keyOf(labels: Labels): string {
  return JSON.stringify([...labels].sort());
}
