import type { FilterNode } from './node.ts';

/** Entity types, or null for all. */
export type Types = readonly string[] | null;

/** Types of which an entity must have one, as far as the condition says so without holes. */
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
  // A constant that is not a string is not a type: nothing can match it, and that is a type list without it.
  return types.includes(undefined) ? null : types.filter((type) => typeof type === 'string');
}

/** The types that both lists have. */
export function both(a: Types, b: Types): Types {
  if (a === null || b === null) return a ?? b;
  return a.filter((type) => b.includes(type));
}
