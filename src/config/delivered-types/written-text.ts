import type { Expression } from 'acorn';

/** The statically known text of an expression. */

/** A literal text, or a hole as it is written between its braces. */
export type TextPart =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'hole'; readonly path: string };

/** The parts of a text that compiles (docs/reference/mapping-language.md "Expressions"). */
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

/** Where the brace is that ends a hole; one within quotes does not. */
function holeEnd(written: string, start: number): number {
  const rest = /(?:[^'"}]|'[^']*'|"[^"]*")*/y;
  rest.lastIndex = start;
  const matched = rest.exec(written)?.[0] ?? '';
  return start + matched.length;
}

const alwaysThere = new Set(['originId', 'id', 'type']);

/**
 * True when the text that an expression gives can be null.
 * @param isOfEntity bare names are those of an entity, and not what a partial was given
 */
export function canBeNull(written: string, isOfEntity: boolean): boolean {
  const [first, ...others] = partsOf(written);
  if (first === undefined || first.kind === 'literal' || others.length > 0) return false;
  if (/\?\?\s*(?:'[^']+'|"[^"]+"|\d+|true|false)$/.test(first.path)) return false;
  return !isOfEntity || !alwaysThere.has(first.path);
}

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
