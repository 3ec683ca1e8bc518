/** The subset of TypeScript types that delivered JSON needs. */
export type Type =
  /** TypeScript source: `string`, `Views["page"]`. */
  | { readonly kind: 'name'; readonly text: string }
  | { readonly kind: 'list'; readonly of: Type }
  | { readonly kind: 'union'; readonly of: readonly Type[] }
  | ObjectType;

export interface ObjectType {
  readonly kind: 'object';
  readonly members: readonly Member[];
  /** True if it may have other members. */
  readonly isOpen: boolean;
}

export interface Member {
  readonly name: string;
  readonly type: Type;
  readonly isOptional?: boolean;
  /** A one-line comment above it. */
  readonly comment?: string;
}

export const namedType = (text: string): Type => ({ kind: 'name', text });

export const stringType = namedType('string');
export const numberType = namedType('number');
export const booleanType = namedType('boolean');
export const nullType = namedType('null');
/** The type of values that JSON omits from objects. */
export const undefinedType = namedType('undefined');
/** Any JSON: nothing more is known. */
export const anyJson = namedType('Json');
export const openObjectType: ObjectType = { kind: 'object', members: [], isOpen: true };

export const listOf = (type: Type): Type => ({ kind: 'list', of: type });
export const orNull = (type: Type): Type => unionOf([type, nullType]);

/** A union with any JSON is any JSON. */
export function unionOf(types: readonly Type[]): Type {
  const flat = types.flatMap((type) => (type.kind === 'union' ? type.of : [type]));
  if (flat.some((type) => type === anyJson)) return anyJson;
  const distinct = [...new Map(flat.map((type) => [typeText(type), type])).values()];
  const [first, ...others] = distinct;
  return first !== undefined && others.length === 0 ? first : { kind: 'union', of: distinct };
}

/** Removes a named type from a union. */
export function without(type: Type, unwanted: Type): Type {
  if (type.kind !== 'union') return type === unwanted ? namedType('never') : type;
  return unionOf(type.of.filter((one) => one !== unwanted));
}

export function includes(type: Type, wanted: Type): boolean {
  return type === wanted || (type.kind === 'union' && type.of.includes(wanted));
}

/** @param indent indentation of all lines after the first */
export function typeText(type: Type, indent = ''): string {
  switch (type.kind) {
    case 'name':
      return type.text;
    case 'list':
      return `readonly ${itemText(type.of, indent)}[]`;
    case 'union':
      return type.of.length === 0 ? 'never' : type.of.map((one) => typeText(one, indent)).join(' | ');
    case 'object':
      return objectText(type, indent);
  }
}

function itemText(type: Type, indent: string): string {
  const item = typeText(type, indent);
  return type.kind === 'union' || type.kind === 'list' ? `(${item})` : item;
}

function objectText({ members, isOpen }: ObjectType, indent: string): string {
  const inner = `${indent}  `;
  const lines = members.flatMap(({ name, type, isOptional, comment }) => [
    ...(comment === undefined ? [] : [`${inner}/** ${comment.replaceAll('*/', '*\\/')} */`]),
    `${inner}readonly ${nameText(name)}${isOptional ? '?' : ''}: ${typeText(type, inner)};`,
  ]);
  if (isOpen) lines.push(`${inner}readonly [name: string]: Json;`);
  return lines.length === 0 ? 'Readonly<Record<string, never>>' : `{\n${lines.join('\n')}\n${indent}}`;
}

function nameText(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** `Views["page"]` */
export const memberOf = (map: string, name: string): Type => namedType(`${map}[${JSON.stringify(name)}]`);

/** True for strings and string literals. */
export function isStringType(type: Type): boolean {
  if (type.kind === 'union') return type.of.length > 0 && type.of.every(isStringType);
  return type.kind === 'name' && (type === stringType || type.text.startsWith('"'));
}

/** Without null and undefined. */
export const nonNullable = (type: Type): Type => without(without(type, nullType), undefinedType);

/** The type of a member; any JSON if unknown. */
export function memberType(of: Type, name: string): Type {
  if (of.kind === 'union') return unionOf(of.of.map((one) => memberType(one, name)));
  if (name === 'length' && (of.kind === 'list' || isStringType(of))) return numberType;
  const member = of.kind === 'object' ? of.members.find((one) => one.name === name) : undefined;
  if (member === undefined) return anyJson;
  return member.isOptional === true ? unionOf([member.type, undefinedType]) : member.type;
}
