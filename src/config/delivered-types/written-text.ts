import type { Expression, SpreadElement } from 'acorn';

/** The statically known text of an expression. */

/** A literal, or the expression between the braces of a hole. */
export type TextPart =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'hole'; readonly path: string };

/** The parts of a valid template string (docs/reference/mapping-language.md "Expressions"). */
export function partsOf(written: string): TextPart[] {
  const parts: TextPart[] = [];
  let literal = '';
  let at = 0;
  const endLiteral = () => {
    if (literal !== '') parts.push({ kind: 'literal', text: literal });
    literal = '';
  };
  while (at < written.length) {
    const two = written.slice(at, at + 2);
    if (two === '{{' || two === '}}') {
      literal += two[0];
      at += 2;
    } else if (written[at] === '{') {
      endLiteral();
      const end = holeEnd(written, at + 1);
      parts.push({ kind: 'hole', path: written.slice(at + 1, end).trim() });
      at = end + 1;
    } else {
      literal += written[at];
      at += 1;
    }
  }
  endLiteral();
  return parts;
}

/** Offset of the closing brace of a hole; braces within quotes do not count. */
function holeEnd(written: string, start: number): number {
  const rest = /(?:[^'"}]|'[^']*'|"[^"]*")*/y;
  rest.lastIndex = start;
  const matched = rest.exec(written)?.[0] ?? '';
  return start + matched.length;
}

const neverNull = new Set(['originId', 'id', 'type']);

/**
 * True if the string value of an expression can be null.
 * @param isOfEntity true if bare names are fields of an entity; false if they belong to a partial's input
 */
export function canBeNull(written: string, isOfEntity: boolean): boolean {
  const [first, ...others] = partsOf(written);
  if (first === undefined || first.kind === 'literal' || others.length > 0) return false;
  if (/\?\?\s*(?:'[^']+'|"[^"]+"|\d+|true|false)$/.test(first.path)) return false;
  return !isOfEntity || !neverNull.has(first.path);
}

/** The value of a string literal; null for anything else. */
export function literalText(node: Expression | SpreadElement | undefined): string | null {
  if (node?.type === 'Literal') return typeof node.value === 'string' ? node.value : null;
  if (node?.type !== 'TemplateLiteral' || node.expressions.length > 0) return null;
  return node.quasis[0]?.value.cooked ?? null;
}

/** The literal parts of a concatenation or template, with null for each value between them; null for any other expression. */
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
