/** Texts that are written out in code. */
import type { Expression } from 'acorn';

/** Null for an expression that is not a string written out. */
export function literalText(node: Expression): string | null {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : null;
  if (node.type !== 'TemplateLiteral' || node.expressions.length > 0) return null;
  return node.quasis[0]?.value.cooked ?? null;
}

/** Texts, and null for each value between them; null for an expression that is not a string put together. */
export function textParts(node: Expression): (string | null)[] | null {
  const literal = literalText(node);
  if (literal !== null) return [literal];
  if (node.type === 'TemplateLiteral') {
    return node.quasis.flatMap((quasi, index) =>
      index < node.expressions.length ? [quasi.value.cooked ?? '', null] : [quasi.value.cooked ?? ''],
    );
  }
  if (node.type !== 'BinaryExpression' || node.operator !== '+' || node.left.type === 'PrivateIdentifier')
    return null;
  return [...(textParts(node.left) ?? [null]), ...(textParts(node.right) ?? [null])];
}
