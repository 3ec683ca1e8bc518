import type { Json } from '../../contract/json.ts';
import { lookupKeysMax } from '../../contract/limits.ts';
import { type LookupIndex, overflowKey, type PropertyPath, valueKey, wholeKey } from '../lookup-layout.ts';
import { scalarText } from '../values.ts';
import { inValues } from './evaluate.ts';
import type { FilterNode, FilterPath, Operand } from './node.ts';

/** Index keys, computed from the query's values, that find every entity for which a condition holds. */
export interface KeyTerm {
  readonly indexes: readonly LookupIndex[];
  /** Estimated amount of data that a query reads by it; lower is better. */
  readonly cost: number;
  keys(values: readonly Json[]): readonly string[];
}

/** The terms whose keys together find every entity for which `node` holds. */
export function keyTerms(node: FilterNode): readonly KeyTerm[] {
  const types = typesOf(node);
  return terms(node, types, new Map()) ?? [allTerm(types)];
}

/** Paths of the variables of the enclosing lambdas. */
type Variables = ReadonlyMap<string, PropertyPath>;

function terms(node: FilterNode, outer: Types, variables: Variables): readonly KeyTerm[] | null {
  const types = both(outer, variables.size === 0 ? typesOf(node) : null);
  switch (node.kind) {
    case 'and':
      return cheapest(node.nodes.map((inner) => terms(inner, types, variables)));
    case 'or':
      return union(node.nodes.map((inner) => terms(inner, types, variables)));
    case 'compare':
      return node.operator === 'eq' ? equality(node.path, [node.operand], false, types, variables) : null;
    case 'in':
      return equality(node.path, node.operands, node.spread, types, variables);
    case 'text':
      return textTerms(node, types, variables);
    case 'any':
      return terms(node.node, types, new Map(variables).set(node.variable, fullPath(node.path, variables)));
    case 'match':
      return node.paths.flatMap((path) => matchTerms(path, node, types));
    case 'not':
    case 'all':
    case 'ofType':
      return null;
  }
}

function cheapest(choices: readonly (readonly KeyTerm[] | null)[]): readonly KeyTerm[] | null {
  let best: readonly KeyTerm[] | null = null;
  for (const choice of choices) {
    if (choice !== null && (best === null || costOf(choice) < costOf(best))) best = choice;
  }
  return best;
}

function costOf(choice: readonly KeyTerm[]): number {
  return choice.reduce((sum, term) => sum + term.cost, 0);
}

function union(choices: readonly (readonly KeyTerm[] | null)[]): readonly KeyTerm[] | null {
  const all: KeyTerm[] = [];
  for (const choice of choices) {
    if (choice === null) return null;
    all.push(...choice);
  }
  return all;
}

function fullPath({ variable, steps }: FilterPath, variables: Variables): PropertyPath {
  return variable === null ? steps : [...(variables.get(variable) ?? []), ...steps];
}

function equality(
  path: FilterPath,
  operands: readonly Operand[],
  spread: boolean,
  types: Types,
  variables: Variables,
): readonly KeyTerm[] | null {
  if (path.variable === null && path.steps.join('.') === 'type' && types !== null) return [allTerm(types)];
  // Null, arrays and objects have no key.
  if (operands.some(({ constant }) => constant !== undefined && scalarText(constant) === null)) return null;
  const places = operands.map(({ index }) => index);
  return [
    valueTerm(fullPath(path, variables), types, {
      inArrays: variables.size > 0,
      isFixed: operands.every(({ constant }) => constant !== undefined),
      texts: (values) => keyTexts(inValues(values, places, spread)),
    }),
  ];
}

/** The texts of values; null if one has no key or there are too many. */
function keyTexts(values: readonly Json[]): readonly string[] | null {
  if (values.length > lookupKeysMax) return null;
  const texts = values.map(scalarText);
  return texts.some((text) => text === null) ? null : texts.filter((text) => text !== null);
}

interface ValueTermParts {
  /** True if the value may be in an array, in which an entity may have more values than the limit. */
  readonly inArrays: boolean;
  /** True if the values are constants, all with keys. */
  readonly isFixed: boolean;
  readonly texts: (values: readonly Json[]) => readonly string[] | null;
}

function valueTerm(path: PropertyPath, types: Types, { inArrays, isFixed, texts }: ValueTermParts): KeyTerm {
  const indexes = indexesOf('value', path, types);
  const fallback = allTerm(types);
  const overflow = inArrays ? indexes.map(overflowKey) : [];
  return {
    indexes: isFixed ? indexes : [...indexes, ...fallback.indexes],
    cost: isFixed ? 1 : 2,
    keys: (values) => {
      const found = texts(values);
      if (found === null) return fallback.keys(values);
      return [...indexes.flatMap((index) => found.map((text) => valueKey(index, text))), ...overflow];
    },
  };
}

function textTerms(
  { path, function: name, operand }: FilterNode & { kind: 'text' },
  types: Types,
  variables: Variables,
): readonly KeyTerm[] | null {
  const full = fullPath(path, variables);
  const text = wholeTerm('text', full, types, 50);
  if (name !== 'contains') return [text];
  if (operand.constant !== undefined && scalarText(operand.constant) === null) return null;
  const { index, constant } = operand;
  const element = valueTerm(full, types, {
    inArrays: true,
    isFixed: constant !== undefined,
    texts: (values) => keyTexts([values[index] ?? null]),
  });
  return [text, element];
}

function matchTerms(
  path: PropertyPath,
  { operator, operand }: FilterNode & { kind: 'match' },
  types: Types,
): readonly KeyTerm[] {
  const value = valueTerm(path, types, {
    inArrays: operator === 'contains',
    // A query value of null matches nothing, so no fallback is needed.
    isFixed: true,
    texts: (values) => keyTexts([values[operand.index] ?? null]) ?? [],
  });
  return operator === 'contains' ? [value, wholeTerm('text', path, types, 50)] : [value];
}

function allTerm(types: Types): KeyTerm {
  return wholeTerm('all', [], types, 100);
}

function wholeTerm(kind: 'text' | 'all', path: PropertyPath, types: Types, cost: number): KeyTerm {
  const indexes = indexesOf(kind, path, types);
  const keys = indexes.map(wholeKey);
  return { indexes, cost, keys: () => keys };
}

function indexesOf(kind: LookupIndex['kind'], path: PropertyPath, types: Types): LookupIndex[] {
  return (types ?? ['*']).map((type) => ({ type, kind, path }));
}

/** Entity types, or null for all. */
type Types = readonly string[] | null;

/** The entity types that the condition allows, if it has constants for them; otherwise null. */
export function typesOf(node: FilterNode): Types {
  if (node.kind === 'and') return node.nodes.map(typesOf).reduce(both, null);
  if (node.kind === 'or') {
    const each = node.nodes.map(typesOf);
    return each.some((types) => types === null) ? null : [...new Set(each.flatMap((types) => types ?? []))];
  }
  const isEquality = (node.kind === 'compare' && node.operator === 'eq') || node.kind === 'in';
  if (!isEquality || node.path.variable !== null || node.path.steps.join('.') !== 'type') return null;
  const operands = node.kind === 'compare' ? [node.operand] : node.operands;
  const types = operands.map((operand) => operand.constant);
  // A constant that is not a string matches no type, so it is left out.
  return types.includes(undefined) ? null : types.filter((type) => typeof type === 'string');
}

/** The types that both lists have. */
export function both(a: Types, b: Types): Types {
  if (a === null || b === null) return a ?? b;
  return a.filter((type) => b.includes(type));
}
