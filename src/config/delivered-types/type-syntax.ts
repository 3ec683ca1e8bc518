/** Accessors for TypeScript syntax trees: acorn's own types only cover JavaScript. */
export interface SyntaxNode {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** A source file and the names in it. */
export interface SourceModule {
  readonly file: string;
  readonly tree: SyntaxNode;
  /** Interfaces, type aliases, functions and variables; null if declared several times. */
  readonly declarations: ReadonlyMap<string, SyntaxNode | null>;
  readonly imports: ReadonlyMap<string, { readonly from: string; readonly name: string }>;
}

/** A node, and the module that declares its names. */
export interface Placed {
  readonly node: SyntaxNode;
  readonly module: SourceModule;
}

/** Finds the declaration of a name, in its module or an imported one; null if unknown. */
export type FindDeclaration = (name: string, module: SourceModule) => Placed | null;

/** Null if the value is not a node. */
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

/** The name of an identifier or the value of a string in a member of a node; null for anything else. */
export function nameIn(node: SyntaxNode, member: string): string | null {
  const inner = nodeIn(node, member);
  if (inner?.type === 'Identifier') return textIn(inner, 'name');
  return inner?.type === 'Literal' ? textIn(inner, 'value') : null;
}

/** The type arguments of `Name<A, B>`; the parser uses another member for them after `extends`. */
export function typeArgumentsOf(node: SyntaxNode): readonly SyntaxNode[] {
  return nodesIn(nodeIn(node, 'typeArguments') ?? nodeIn(node, 'typeParameters'), 'params');
}
