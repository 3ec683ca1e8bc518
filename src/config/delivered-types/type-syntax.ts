/** Reads the syntax tree of TypeScript, of which acorn's types know only JavaScript. */
export interface SyntaxNode {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** A source file, as far as its names matter. */
export interface SourceModule {
  readonly file: string;
  readonly tree: SyntaxNode;
  /** Interfaces, type aliases, functions and variables; null: declared several times. */
  readonly declarations: ReadonlyMap<string, SyntaxNode | null>;
  readonly imports: ReadonlyMap<string, { readonly from: string; readonly name: string }>;
}

/** A node, and where its names are declared. */
export interface Placed {
  readonly node: SyntaxNode;
  readonly module: SourceModule;
}

/** Where a name is declared, in its module or in one that it imports; null if that is not known. */
export type FindDeclaration = (name: string, module: SourceModule) => Placed | null;

/** Null for what is not a node. */
export function syntaxNode(value: unknown): SyntaxNode | null {
  return isNode(value) ? value : null;
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

export function nodeIn(node: SyntaxNode | null, member: string): SyntaxNode | null {
  return syntaxNode(node?.[member]);
}

export function nodesIn(node: SyntaxNode | null, member: string): readonly SyntaxNode[] {
  const list = node?.[member];
  return Array.isArray(list) ? list.filter(isNode) : [];
}

export function textIn(node: SyntaxNode | null, member: string): string | null {
  const text = node?.[member];
  return typeof text === 'string' ? text : null;
}

/** The name of an identifier, or the text of a string, in a member of a node; null for anything else. */
export function nameIn(node: SyntaxNode, member: string): string | null {
  const inner = nodeIn(node, member);
  if (inner?.type === 'Identifier') return textIn(inner, 'name');
  return inner?.type === 'Literal' ? textIn(inner, 'value') : null;
}

/** Those of `Name<A, B>`; the parser names the list differently after `extends`. */
export function typeArgumentsOf(node: SyntaxNode): readonly SyntaxNode[] {
  return nodesIn(nodeIn(node, 'typeArguments') ?? nodeIn(node, 'typeParameters'), 'params');
}
