import type { Json } from '../../contract/json.ts';
import type { PropertyPath } from '../lookup-layout.ts';
import { listOf, member, scalarText } from '../values.ts';
import {
  comparisons,
  type FilterNode,
  type FilterPath,
  type Operand,
  propertyMatches,
  sameJson,
  textFunctions,
} from './node.ts';

/** The input of a filter test: values of one entity and of one query. */
export interface Match {
  /** Values of the entity, in the order of the layout's projection. */
  row: readonly Json[];
  /** For each path of the plan's `reads`, its index in `row`. */
  readonly positions: readonly number[];
  /** The query's values, by the index of their operand. */
  readonly values: readonly Json[];
  /** The values of `in`, by the index of their first operand. */
  readonly sets: Map<number, ValueSet>;
  /** Current elements of the enclosing lambdas, outermost first. */
  readonly elements: Json[];
}

export type FilterTest = (match: Match) => boolean;

/** Collects the paths that a condition reads, without duplicates. */
export class Reads {
  readonly paths: PropertyPath[] = [];
  readonly #positions = new Map<string, number>();

  /** @returns the index of the path in `paths` */
  add(path: PropertyPath): number {
    const key = JSON.stringify(path);
    const known = this.#positions.get(key);
    if (known !== undefined) return known;
    this.#positions.set(key, this.paths.length);
    this.paths.push(path);
    return this.paths.length - 1;
  }
}

/** Compiles a condition, and adds the paths that it reads to `reads`. */
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
        return related(comparisons[node.operator], this.#read(node.path), node.operand);
      case 'text':
        return related(textFunctions[node.function], this.#read(node.path), node.operand);
      case 'match':
        return related(propertyMatches[node.operator], this.#firstPresent(node.paths), node.operand);
      case 'ofType':
        return related(isOfType, this.#readEntity(['type']), node.operand);
      case 'in':
        return this.#in(node);
      case 'any':
      case 'all':
        return this.#lambda(node);
    }
  }

  #read({ variable, steps }: FilterPath): Read {
    if (variable === null) return this.#readEntity(steps);
    const level = this.#variables.lastIndexOf(variable);
    return (match) => steps.reduce(member, match.elements[level] ?? null);
  }

  #readEntity(path: PropertyPath): Read {
    const index = this.#reads.add(path);
    return ({ row, positions }) => row[positions[index] ?? -1] ?? null;
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
    const indexes = operands.map(({ index }) => index);
    const [key = 0] = indexes;
    return (match) => {
      let set = match.sets.get(key);
      if (set === undefined) {
        set = new ValueSet(inValues(match.values, indexes, spread));
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

function related(
  relation: (value: Json, wanted: Json) => boolean,
  read: Read,
  { index }: Operand,
): FilterTest {
  return (match) => relation(read(match), match.values[index] ?? null);
}

function isOfType(type: Json, wanted: Json): boolean {
  const text = scalarText(wanted);
  return text === null || text === '*' || type === text;
}

/** A set of JSON values, compared by type and content: 9 is different from `'9'`. */
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

/** The values of `in`. @param indexes of its operands among the query's values */
export function inValues(values: readonly Json[], indexes: readonly number[], spread: boolean): Json[] {
  const given = indexes.map((index) => values[index] ?? null);
  return spread ? given.flatMap((value) => (Array.isArray(value) ? value : [value])) : given;
}
