import type { Json } from '../../contract/json.ts';
import { jsonEqual } from '../json-path/json-equal.ts';
import { compareCodePoints } from '../language/code-points.ts';
import { listOf, member } from '../language/member.ts';
import { scalarText } from '../language/value-text.ts';
import type { PropertyPath } from '../lookup/plan.ts';
import type { ComparisonName, FilterNode, FilterPath, TextTest } from './node.ts';

/** What a condition is asked about: one entity's values, against one query's. */
export interface Match {
  /** Values of the entity, in the order of the layout's projection. */
  row: readonly Json[];
  /** For each path of the plan's `reads`, its place in `row`. */
  readonly places: readonly number[];
  /** The query's values, by slot. */
  readonly values: readonly Json[];
  /** The values of `in`, by the slot of their first operand. */
  readonly sets: Map<number, ValueSet>;
  /** Elements that the lambdas around stand at. */
  readonly elements: Json[];
}

export type FilterTest = (match: Match) => boolean;

/** The paths that a condition reads, each once. */
export class Reads {
  readonly paths: PropertyPath[] = [];
  readonly #places = new Map<string, number>();

  /** @returns the path's index among `paths` */
  add(path: PropertyPath): number {
    const key = JSON.stringify(path);
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    this.#places.set(key, this.paths.length);
    this.paths.push(path);
    return this.paths.length - 1;
  }
}

/** Compiles a condition; what it reads of the entity is added to `reads`. */
export function compileTest(node: FilterNode, reads: Reads): FilterTest {
  return new TestCompiler(reads).compile(node);
}

type Read = (match: Match) => Json;

class TestCompiler {
  readonly #reads: Reads;
  readonly #variables: string[] = [];

  constructor(reads: Reads) {
    this.#reads = reads;
  }

  compile(node: FilterNode): FilterTest {
    switch (node.kind) {
      case 'and': {
        const tests = node.nodes.map((inner) => this.compile(inner));
        return (match) => tests.every((test) => test(match));
      }
      case 'or': {
        const tests = node.nodes.map((inner) => this.compile(inner));
        return (match) => tests.some((test) => test(match));
      }
      case 'not': {
        const test = this.compile(node.node);
        return (match) => !test(match);
      }
      case 'compare':
        return compare(this.#read(node.path), node.operator, node.operand.slot);
      case 'in':
        return this.#in(node);
      case 'text':
        return textTest(this.#read(node.path), node.test, node.operand.slot);
      case 'any':
      case 'all':
        return this.#lambda(node);
      case 'match':
        return propertyMatch(this.#firstPresent(node.paths), node.operator, node.operand.slot);
      case 'ofType':
        return ofType(this.#readEntity(['type']), node.operand.slot);
    }
  }

  #read({ variable, steps }: FilterPath): Read {
    if (variable === null) return this.#readEntity(steps);
    const level = this.#variables.lastIndexOf(variable);
    return (match) => steps.reduce(member, match.elements[level] ?? null);
  }

  #readEntity(path: PropertyPath): Read {
    const index = this.#reads.add(path);
    return ({ row, places }) => row[places[index] ?? -1] ?? null;
  }

  #firstPresent(paths: readonly PropertyPath[]): Read {
    const reads = paths.map((path) => this.#readEntity(path));
    return (match) => {
      for (const read of reads) {
        const value = read(match);
        if (value !== null) return value;
      }
      return null;
    };
  }

  #in({ path, operands, spread }: FilterNode & { kind: 'in' }): FilterTest {
    const read = this.#read(path);
    const slots = operands.map((operand) => operand.slot);
    const [key = 0] = slots;
    return (match) => {
      let set = match.sets.get(key);
      if (set === undefined) {
        set = new ValueSet(inValues(match.values, slots, spread));
        match.sets.set(key, set);
      }
      return set.has(read(match));
    };
  }

  #lambda({ kind, path, variable, node }: FilterNode & { kind: 'any' | 'all' }): FilterTest {
    const read = this.#read(path);
    this.#variables.push(variable);
    const test = this.compile(node);
    this.#variables.pop();
    const wanted = kind === 'any';
    return (match) => {
      for (const element of listOf(read(match))) {
        match.elements.push(element);
        const holds = test(match);
        match.elements.pop();
        if (holds === wanted) return wanted;
      }
      return !wanted;
    };
  }
}

/** The values that `in` compares with. */
export function inValues(values: readonly Json[], slots: readonly number[], spread: boolean): Json[] {
  const given = slots.map((slot) => values[slot] ?? null);
  return spread ? given.flatMap((value) => (Array.isArray(value) ? value : [value])) : given;
}

/** Values that are looked up by type and content: 9 is not `'9'`. */
export class ValueSet {
  readonly #scalars: ReadonlySet<Json>;
  readonly #others: readonly Json[];

  constructor(values: readonly Json[]) {
    this.#scalars = new Set(values.filter(isScalarOrNull));
    this.#others = values.filter((value) => !isScalarOrNull(value));
  }

  has(value: Json): boolean {
    if (isScalarOrNull(value)) return this.#scalars.has(value);
    return this.#others.some((other) => sameJson(other, value));
  }
}

function isScalarOrNull(value: Json): boolean {
  return typeof value !== 'object' || value === null;
}

function compare(read: Read, operator: ComparisonName, slot: number): FilterTest {
  switch (operator) {
    case 'eq':
      return (match) => sameJson(read(match), match.values[slot] ?? null);
    case 'ne':
      return (match) => !sameJson(read(match), match.values[slot] ?? null);
    case 'gt':
      return (match) => order(read(match), match.values[slot]) > 0;
    case 'ge':
      return (match) => order(read(match), match.values[slot]) >= 0;
    case 'lt':
      return (match) => order(read(match), match.values[slot]) < 0;
    case 'le':
      return (match) => order(read(match), match.values[slot]) <= 0;
  }
}

/** Order of two values of one type; NaN, which no comparison holds for, for all others. */
function order(a: Json, b: Json | undefined): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return compareCodePoints(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  return Number.NaN;
}

const free = (): void => {};

/** Values in an index entry are small; nobody counts the steps of comparing them. */
function sameJson(a: Json, b: Json): boolean {
  return jsonEqual(a, b, free);
}

/** Text functions hold for texts; `contains` also for an array that has the value. */
function textTest(read: Read, test: TextTest, slot: number): FilterTest {
  return (match) => {
    const value = read(match);
    const wanted = match.values[slot] ?? null;
    if (test === 'contains' && Array.isArray(value)) return value.some((item) => sameJson(item, wanted));
    if (typeof value !== 'string' || typeof wanted !== 'string') return false;
    if (test === 'startswith') return value.startsWith(wanted);
    return test === 'endswith' ? value.endsWith(wanted) : value.includes(wanted);
  };
}

/** Scalars are compared by their text; a null value to match, or one that is no scalar, matches nothing. */
function propertyMatch(read: Read, operator: 'equals' | 'contains', slot: number): FilterTest {
  return (match) => {
    const wanted = scalarText(match.values[slot] ?? null);
    if (wanted === null) return false;
    const value = read(match);
    if (operator === 'equals') return scalarText(value) === wanted;
    if (Array.isArray(value)) return value.some((item) => scalarText(item) === wanted);
    return typeof value === 'string' && value.includes(wanted);
  };
}

function ofType(read: Read, slot: number): FilterTest {
  return (match) => {
    const type = scalarText(match.values[slot] ?? null);
    return type === null || type === '*' || read(match) === type;
  };
}
