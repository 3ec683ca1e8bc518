/**
 * Infers the return types of schemas in JavaScript from their code without running it, and the types of entity properties from
 * what the schema declares. Everything else is any JSON. An object literal has exactly the members that it lists.
 */
import type {
  CallExpression,
  Expression,
  Function as FunctionNode,
  Identifier,
  MemberExpression,
  ObjectExpression,
  SpreadElement,
} from 'acorn';
import { type Binding, type CodeScope, isFunction, returnedBy } from './code-scope.ts';
import { type KnownTypes, partialType, referenceType } from './mapping-types.ts';
import {
  anyJson,
  booleanType,
  includes,
  isStringType,
  listOf,
  type Member,
  memberType,
  nonNullable,
  nullType,
  numberType,
  type ObjectType,
  openObjectType,
  orNull,
  stringType,
  type Type,
  undefinedType,
  unionOf,
  without,
} from './type.ts';
import { literalText } from './written-text.ts';

/** Maximum depth of nested calls that are followed. */
const depthMax = 20;

const textMethods = new Set(
  'toUpperCase toLowerCase trim trimStart trimEnd substring replace replaceAll padStart padEnd repeat normalize charAt toFixed toISOString join'.split(
    ' ',
  ),
);
const booleanMethods = new Set('startsWith endsWith test some every'.split(' '));
const sameListMethods = new Set('filter sort reverse toSorted toReversed slice concat'.split(' '));
/** Methods that end a chain of `context.reference(…)` with one view. */
const singleReferences = new Set(['byOriginId', 'parent', 'self', 'first']);
/** Methods that return a list of views. */
const listReferences = new Set(['byOriginIds', 'children', 'filter']);

/**
 * Maximum number of expressions that are read in a schema: functions that call each other twice double the work with each
 * level.
 */
const expressionsMax = 100_000;

export class CodeTypes {
  #depth = 0;
  #expressions = 0;
  /** Functions that are being read; the result of a recursive call is any JSON. */
  readonly #reading = new Set<FunctionNode>();
  /** Types of the first parameters of functions, where known. */
  readonly #given = new Map<FunctionNode, Type>();

  constructor(
    private readonly scope: CodeScope,
    private readonly known: KnownTypes,
  ) {}

  /** The return type of a function with a single caller. @param input type of its first argument */
  ofFunctionGiven(node: FunctionNode, input: Type): Type {
    this.#given.set(node, input);
    return this.ofFunction(node);
  }

  /** The return type of a function, with promises unwrapped. */
  ofFunction(node: FunctionNode): Type {
    if (this.#depth >= depthMax || node.generator || this.#reading.has(node)) return anyJson;
    this.#depth += 1;
    this.#reading.add(node);
    const types = returnedBy(node).map((returned) => (returned === null ? undefinedType : this.of(returned)));
    this.#reading.delete(node);
    this.#depth -= 1;
    return types.length === 0 ? undefinedType : unionOf(types);
  }

  of(node: Expression | SpreadElement): Type {
    this.#expressions += 1;
    if (this.#expressions > expressionsMax) return anyJson;
    switch (node.type) {
      case 'Literal':
        return literalType(node.value);
      case 'TemplateLiteral':
        return stringType;
      case 'ObjectExpression':
        return this.#object(node);
      case 'ArrayExpression':
        return listOf(unionOf(node.elements.map((item) => (item === null ? nullType : this.#item(item)))));
      case 'AwaitExpression':
        return this.of(node.argument);
      case 'ParenthesizedExpression':
      case 'ChainExpression':
        return this.of(node.expression);
      case 'ConditionalExpression':
        return unionOf([this.of(node.consequent), this.of(node.alternate)]);
      case 'LogicalExpression':
        return this.#logical(node.operator, node.left, node.right);
      case 'UnaryExpression':
        return unaryType(node.operator);
      case 'BinaryExpression':
        return node.left.type === 'PrivateIdentifier'
          ? booleanType
          : this.#binary(node.operator, node.left, node.right);
      case 'Identifier':
        return this.#name(node);
      case 'MemberExpression':
        return this.#member(node);
      case 'NewExpression':
        // In JSON a date is a string, or null if it is invalid.
        return node.callee.type === 'Identifier' && node.callee.name === 'Date'
          ? orNull(stringType)
          : anyJson;
      case 'CallExpression':
        return this.#call(node);
      default:
        return anyJson;
    }
  }

  #object(node: ObjectExpression): Type {
    const members = new Map<string, Member>();
    let isOpen = false;
    for (const property of node.properties) {
      if (property.type === 'SpreadElement') {
        const spread = this.#spread(property.argument);
        if (spread.isOpen) {
          isOpen = true;
          forget(members);
        }
        for (const member of spread.members)
          members.set(member.name, spreadMember(member, members.get(member.name)));
        continue;
      }
      const name = property.computed ? null : keyName(property.key);
      if (name === null) {
        isOpen = true;
        forget(members);
      } else members.set(name, memberOf(name, this.of(property.value)));
    }
    return { kind: 'object', members: [...members.values()], isOpen };
  }

  /** Members that `...(a && { b })` may add to an object. */
  #spread(node: Expression): ObjectType {
    const isCondition = node.type === 'LogicalExpression' && node.operator === '&&';
    const type = isCondition ? unionOf([this.of(node.right), undefinedType]) : this.of(node);
    const kinds = type.kind === 'union' ? type.of : [type];
    const members = new Map<string, Member>();
    for (const kind of kinds) {
      if (kind === undefinedType || kind === nullType) continue;
      if (kind.kind !== 'object' || kind.isOpen) return openObjectType;
      for (const member of kind.members) {
        const known = members.get(member.name);
        const types = known === undefined ? [member.type] : [known.type, member.type];
        const isOptional = kinds.length > 1 || member.isOptional === true;
        members.set(member.name, {
          name: member.name,
          type: unionOf(types),
          ...(isOptional ? { isOptional } : {}),
        });
      }
    }
    return { kind: 'object', members: [...members.values()], isOpen: false };
  }

  #item(item: Expression | SpreadElement): Type {
    if (item.type !== 'SpreadElement') return jsonOf(this.of(item));
    const spread = this.of(item.argument);
    return spread.kind === 'list' ? spread.of : anyJson;
  }

  #logical(operator: string, left: Expression, right: Expression): Type {
    const [a, b] = [this.of(left), this.of(right)];
    if (operator === '??') return unionOf([without(without(a, nullType), undefinedType), b]);
    return operator === '||' ? unionOf([without(without(a, nullType), undefinedType), b]) : unionOf([a, b]);
  }

  #binary(operator: string, left: Expression, right: Expression): Type {
    if (/^(?:[=!]==?|[<>]=?|in|instanceof)$/.test(operator)) return booleanType;
    const [a, b] = [this.of(left), this.of(right)];
    if (operator === '+' && (isStringType(a) || isStringType(b))) return stringType;
    const areNumbers = a === numberType && b === numberType;
    if (operator === '+') return areNumbers ? numberType : anyJson;
    // NaN and infinity are null in JSON.
    return areNumbers && (operator === '-' || operator === '*') ? numberType : orNull(numberType);
  }

  #name(node: Identifier): Type {
    if (node.name === 'undefined') return undefinedType;
    if (node.name === 'NaN' || node.name === 'Infinity') return nullType;
    const binding = this.scope.binding(node);
    if (binding === null || binding.kind === 'function' || this.#depth >= depthMax) return anyJson;
    this.#depth += 1;
    const type = binding.kind === 'part' ? this.#part(binding) : this.of(binding.value);
    this.#depth -= 1;
    if (binding.kind === 'part') return type;
    const isLiteral = binding.value.type === 'ObjectExpression' || binding.value.type === 'ArrayExpression';
    const { changes } = this.scope;
    // Object literals are often filled later, whereas results of calls are mostly only read.
    const mayDiffer = isLiteral ? changes.isNamedAgain(node) : changes.isChanged(node);
    if (!mayDiffer || type.kind === 'name') return type;
    return type.kind === 'object' ? openObjectType : anyJson;
  }

  #part({ of, path, fallback }: Extract<Binding, { kind: 'part' }>): Type {
    let type = of.type === 'FirstParameter' ? (this.#given.get(of.function) ?? anyJson) : this.of(of);
    for (const name of path) type = memberType(nonNullable(type), name);
    return fallback === null ? type : unionOf([without(type, undefinedType), this.of(fallback)]);
  }

  #member(node: MemberExpression): Type {
    const { object, property, computed } = node;
    if (property.type === 'PrivateIdentifier' || object.type === 'Super') return anyJson;
    const name = computed ? literalText(property) : keyName(property);
    if (name === null) return anyJson;
    const of = this.of(object);
    const type = memberType(nonNullable(of), name);
    const mayEnd = isInOptionalChain(node) && (includes(of, undefinedType) || includes(of, nullType));
    return mayEnd ? unionOf([type, undefinedType]) : type;
  }

  #call(node: CallExpression): Type {
    const { callee } = node;
    const [first] = node.arguments;
    if (callee.type === 'Identifier') return this.#namedCall(callee, first);
    if (callee.type !== 'MemberExpression' || callee.computed || callee.property.type !== 'Identifier')
      return anyJson;
    const reference = this.#reference(node);
    if (reference !== null) return reference;
    const method = callee.property.name;
    if (callee.object.type === 'Super') return anyJson;
    if (callee.object.type === 'Identifier') {
      const known = this.#staticCall(callee.object.name, method, first);
      if (known !== null) return known;
    }
    return this.#method(callee.object, method, first, isInOptionalChain(callee));
  }

  #namedCall(callee: Identifier, first: Expression | SpreadElement | undefined): Type {
    const { name } = callee;
    if (name === 'String') return stringType;
    if (name === 'Boolean') return booleanType;
    if (name === 'Number' || name === 'parseInt' || name === 'parseFloat') return orNull(numberType);
    if (name === 'partial') return partialType(literalText(first), this.known);
    const own = this.scope.function(callee);
    return own === null ? anyJson : this.ofFunction(own);
  }

  /** Null for any other call. */
  #staticCall(object: string, method: string, first: Expression | SpreadElement | undefined): Type | null {
    if (object === 'Math') return orNull(numberType);
    if (object === 'JSON') return method === 'stringify' ? this.#stringified(first) : anyJson;
    if (object === 'Array') return method === 'isArray' ? booleanType : anyJson;
    if (object === 'Promise')
      return /^(?:all|resolve)$/.test(method) && first !== undefined ? this.of(first) : anyJson;
    if (object === 'Object')
      return method === 'keys' ? listOf(stringType) : method === 'fromEntries' ? openObjectType : anyJson;
    if (method === 'partial') return partialType(literalText(first), this.known);
    return null;
  }

  /** JSON.stringify(undefined) is undefined. */
  #stringified(node: Expression | SpreadElement | undefined): Type {
    const type = node === undefined ? undefinedType : this.of(node);
    return type === anyJson || includes(type, undefinedType)
      ? unionOf([stringType, undefinedType])
      : stringType;
  }

  #method(
    object: Expression,
    method: string,
    first: Expression | SpreadElement | undefined,
    isOptional: boolean,
  ): Type {
    const perhaps = (type: Type) => (isOptional ? unionOf([type, undefinedType]) : type);
    if (textMethods.has(method)) return perhaps(stringType);
    if (booleanMethods.has(method)) return perhaps(booleanType);
    const of = nonNullable(this.of(object));
    if (method === 'map' || method === 'flatMap') {
      const item =
        first === undefined ? anyJson : this.#callback(first, of.kind === 'list' ? of.of : anyJson);
      if (method === 'map') return perhaps(listOf(jsonOf(item)));
      const flat = (item.kind === 'union' ? item.of : [item]).map((one) =>
        one.kind === 'list' ? one.of : jsonOf(one),
      );
      return perhaps(listOf(unionOf(flat)));
    }
    if (of.kind === 'list' && sameListMethods.has(method))
      return perhaps(method === 'concat' ? listOf(anyJson) : of);
    if (method === 'split') return perhaps(listOf(stringType));
    if (isStringType(of) && method === 'slice') return perhaps(stringType);
    if (method === 'toPromise') return of;
    return anyJson;
  }

  #callback(node: Expression | SpreadElement, item: Type): Type {
    if (node.type !== 'SpreadElement' && isFunction(node)) return this.ofFunctionGiven(node, item);
    if (node.type !== 'Identifier') return anyJson;
    return node.name === 'String' ? stringType : this.#namedCall(node, undefined);
  }

  /** The type of a call chain such as `context.reference(alias).byOriginId(…)`; null for any other call. */
  #reference(node: CallExpression): Type | null {
    const methods: string[] = [];
    let at: Expression | MemberExpression['object'] = node;
    while (at.type === 'CallExpression') {
      const { callee }: CallExpression = at;
      const name: string | null =
        callee.type === 'Identifier'
          ? callee.name
          : callee.type === 'MemberExpression' && callee.property.type === 'Identifier'
            ? callee.property.name
            : null;
      if (name === null) return null;
      if (name === 'reference') return referencesType(methods, literalText(at.arguments[0]), this.known);
      methods.push(name);
      if (callee.type !== 'MemberExpression') return null;
      at = callee.object;
    }
    return null;
  }
}

function referencesType(methods: readonly string[], alias: string | null, known: KnownTypes): Type | null {
  const view = referenceType(alias, known);
  if (methods.some((method) => singleReferences.has(method))) return view;
  return methods.some((method) => listReferences.has(method)) ? listOf(view) : anyJson;
}

/** True if an earlier null in the chain skips it: `a?.b.c`. */
function isInOptionalChain(node: MemberExpression): boolean {
  let at: Expression | MemberExpression['object'] = node;
  while (at.type === 'MemberExpression' || at.type === 'CallExpression') {
    if (at.optional) return true;
    const next: Expression | MemberExpression['object'] =
      at.type === 'CallExpression' ? at.callee : at.object;
    at = next;
  }
  return false;
}

/** Sets all members to any JSON, because an unknown spread or key may override them. */
function forget(members: Map<string, Member>): void {
  for (const name of members.keys()) members.set(name, { name, type: anyJson });
}

/** A member that is missing in the spread object keeps its earlier value; one that is undefined there is removed. */
function spreadMember(spread: Member, earlier: Member | undefined): Member {
  if (spread.isOptional !== true || earlier === undefined) return spread;
  return { ...spread, type: unionOf([earlier.type, spread.type]) };
}

function literalType(value: unknown): Type {
  if (typeof value === 'string') return stringType;
  if (typeof value === 'number') return numberType;
  if (typeof value === 'boolean') return booleanType;
  return value === null ? nullType : anyJson;
}

function unaryType(operator: string): Type {
  if (operator === '!' || operator === 'delete') return booleanType;
  if (operator === 'typeof') return stringType;
  return operator === 'void' ? undefinedType : orNull(numberType);
}

function keyName(key: Expression | { type: 'PrivateIdentifier' }): string | null {
  if (key.type === 'Identifier') return key.name;
  return key.type === 'Literal' ? String(key.value) : null;
}

/** JSON.stringify omits members that are undefined. */
function memberOf(name: string, type: Type): Member {
  if (!includes(type, undefinedType)) return { name, type };
  return { name, type: without(type, undefinedType), isOptional: true };
}

/** In arrays, JSON.stringify writes null for undefined. */
function jsonOf(type: Type): Type {
  return includes(type, undefinedType) ? orNull(without(type, undefinedType)) : type;
}
