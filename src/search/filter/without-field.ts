import type { FilterNode } from './condition.ts';

/**
 * The filter without its conditions on a field; null when nothing is left. A group that loses all its members is no
 * condition. A filter that has none on the field is given back itself.
 */
export function withoutField(node: FilterNode | null, field: string): FilterNode | null {
  if (node === null) return null;
  if (node.kind === 'condition') return node.field === field ? null : node;
  const nodes = node.nodes.map((member) => withoutField(member, field));
  if (nodes.every((member, at) => member === node.nodes[at])) return node;
  const left = nodes.filter((member) => member !== null);
  return left.length === 0 ? null : { kind: node.kind, nodes: left };
}
