/** Reads a TypeScript type: names are resolved, and types that JSON cannot represent become any JSON. */
import {
  anyJson,
  booleanType,
  listOf,
  type Member,
  memberType,
  namedType,
  nullType,
  numberType,
  openObjectType,
  stringType,
  type Type,
  undefinedType,
  unionOf,
} from './type.ts';

/** Maximum number of nodes read for a type, because aliases may expand exponentially. */
const nodesMax = 2_000;

const keywords: Readonly<Record<string, Type>> = {
  TSStringKeyword: stringType,
  TSNumberKeyword: numberType,
  TSBooleanKeyword: booleanType,
  TSNullKeyword: nullType,
  TSUndefinedKeyword: undefinedType,
  TSTemplateLiteralType: stringType,
};

/** Arguments for the type parameters of a declaration. */
type Arguments = ReadonlyMap<string, Type>;

interface Place {
  readonly module: SourceModule;
  readonly given: Arguments;
}

export class TypeReader {
  #nodesLeft = nodesMax;
  /** Declarations that are being read; a recursive one becomes any JSON. */
  readonly #reading = new Set<SyntaxNode>();

  constructor(private readonly declarationOf: FindDeclaration) {}

  read({ node, module }: Placed): Type {
    return this.#type(node, { module, given: new Map() });
  }

  #type(node: SyntaxNode | null, place: Place): Type {
    this.#nodesLeft -= 1;
    if (node === null || this.#nodesLeft < 0) return anyJson;
    const inner = () => this.#type(nodeIn(node, 'typeAnnotation'), place);
    switch (node.type) {
      case 'TSParenthesizedType':
        return inner();
      case 'TSTypeOperator':
        return node.operator === 'readonly' ? inner() : anyJson;
      case 'TSLiteralType':
        return literalType(nodeIn(node, 'literal'));
      case 'TSArrayType':
        return listOf(this.#item(nodeIn(node, 'elementType'), place));
      case 'TSTupleType':
        return this.#tuple(nodesIn(node, 'elementTypes'), place);
      case 'TSUnionType':
        return unionOf(nodesIn(node, 'types').map((one) => this.#type(one, place)));
      case 'TSIntersectionType':
        return merged(nodesIn(node, 'types').map((one) => this.#type(one, place)));
      case 'TSTypeLiteral':
        return this.#object(nodesIn(node, 'members'), place);
      case 'TSIndexedAccessType':
        return this.#indexed(node, place);
      case 'TSTypeReference':
        return this.#reference(node, nameIn(node, 'typeName'), place);
      default:
        return keywords[node.type] ?? anyJson;
    }
  }

  /** In arrays, JSON has null for undefined. */
  #item(node: SyntaxNode | null, place: Place): Type {
    const type = this.#type(node, place);
    return type === undefinedType ? nullType : type;
  }

  #tuple(items: readonly SyntaxNode[], place: Place): Type {
    const plain = items.map((item) =>
      item.type === 'TSNamedTupleMember' ? nodeIn(item, 'elementType') : item,
    );
    return listOf(unionOf(plain.map((item) => this.#item(item, place))));
  }

  #object(written: readonly SyntaxNode[], place: Place): Type {
    const members: Member[] = [];
    let isOpen = false;
    for (const node of written) {
      const name = node.computed === true ? null : nameIn(node, 'key');
      if (name === null) {
        isOpen = true;
        continue;
      }
      const isProperty = node.type === 'TSPropertySignature';
      const type = isProperty
        ? this.#type(nodeIn(nodeIn(node, 'typeAnnotation'), 'typeAnnotation'), place)
        : anyJson;
      members.push({ name, type, ...(node.optional === true ? { isOptional: true } : {}) });
    }
    // `{}` accepts any value.
    return members.length === 0 && !isOpen ? anyJson : { kind: 'object', members, isOpen };
  }

  #indexed(node: SyntaxNode, place: Place): Type {
    const name = nameIn(nodeIn(node, 'indexType') ?? node, 'literal');
    return name === null ? anyJson : memberType(this.#type(nodeIn(node, 'objectType'), place), name);
  }

  #reference(node: SyntaxNode, name: string | null, place: Place): Type {
    if (name === null) return anyJson;
    const own = place.given.get(name);
    if (own !== undefined) return own;
    const given = typeArgumentsOf(node).map((one) => this.#type(one, place));
    const declaration = this.declarationOf(name, place.module);
    if (declaration !== null) return this.#declared(declaration, given);
    const isUnknown = place.module.declarations.has(name) || place.module.imports.has(name);
    return isUnknown ? anyJson : builtIn(name, given[0] ?? anyJson);
  }

  #declared({ node, module }: Placed, given: readonly Type[]): Type {
    if (this.#reading.has(node)) return anyJson;
    this.#reading.add(node);
    const names = nodesIn(nodeIn(node, 'typeParameters'), 'params');
    const place = { module, given: new Map<string, Type>() };
    names.forEach((one, at) => {
      place.given.set(textIn(one, 'name') ?? '', given[at] ?? this.#type(nodeIn(one, 'default'), place));
    });
    const type = this.#declaration(node, place);
    this.#reading.delete(node);
    return type;
  }

  #declaration(node: SyntaxNode, place: Place): Type {
    if (node.type === 'TSTypeAliasDeclaration') return this.#type(nodeIn(node, 'typeAnnotation'), place);
    if (node.type !== 'TSInterfaceDeclaration') return anyJson;
    const bases = nodesIn(node, 'extends').map((base) =>
      this.#reference(base, nameIn(base, 'expression'), place),
    );
    const own = nodesIn(nodeIn(node, 'body'), 'body');
    if (own.length === 0 && bases.length === 0) return anyJson;
    return merged([...bases, ...(own.length === 0 ? [] : [this.#object(own, place)])]);
  }
}

/** Global types of TypeScript. */
function builtIn(name: string, given: Type): Type {
  switch (name) {
    case 'Array':
    case 'ReadonlyArray':
      return listOf(given === undefinedType ? nullType : given);
    case 'Record':
      return openObjectType;
    case 'Readonly':
      return given;
    case 'Partial':
      if (given.kind !== 'object') return anyJson;
      return { ...given, members: given.members.map((member) => ({ ...member, isOptional: true })) };
    default:
      return anyJson;
  }
}

/** The intersection of object types; later members replace earlier ones. Any JSON next to an object makes the result open. */
function merged(types: readonly Type[]): Type {
  const members = new Map<string, Member>();
  let isOpen = false;
  for (const type of types) {
    if (type.kind !== 'object' && type !== anyJson) return anyJson;
    isOpen ||= type.kind !== 'object' || type.isOpen;
    for (const member of type.kind === 'object' ? type.members : []) members.set(member.name, member);
  }
  return members.size === 0 ? anyJson : { kind: 'object', members: [...members.values()], isOpen };
}

function literalType(node: SyntaxNode | null): Type {
  if (node?.type === 'TemplateLiteral') return stringType;
  if (node?.type === 'UnaryExpression') return node.operator === '-' ? numberType : anyJson;
  const value = node?.value;
  if (value === null) return nullType;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? namedType(JSON.stringify(value))
    : anyJson;
}

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
