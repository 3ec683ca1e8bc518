/**
 * The output types of JSON schemas (docs/reference/mapping-language.md "Property types"). The schemas are known to be valid.
 */
import { isJsonObject, type Json, type JsonObject } from '../../contract/json.ts';
import {
  anyJson,
  booleanType,
  listOf,
  type Member,
  memberOf,
  namedType,
  nullType,
  numberType,
  type ObjectType,
  openObjectType,
  orNull,
  stringType,
  type Type,
  undefinedType,
  unionOf,
} from './type.ts';
import { canBeNull } from './written-text.ts';

/** The names that the types of a tenant can refer to. */
export interface KnownTypes {
  /** Aliases of the schemas that make views. */
  readonly views: ReadonlySet<string>;
  /** Aliases of partials, and whether they may include themselves; such a cycle ends in null. */
  readonly partials: ReadonlyMap<string, { readonly isCyclic: boolean }>;
}

/** Any view. */
const anyView = namedType('Views[keyof Views]');

/** Null is always possible; it is the only value if no schema has the alias. */
export function referenceType(alias: string | null, { views }: KnownTypes): Type {
  if (alias === null) return orNull(anyView);
  return views.has(alias) ? orNull(memberOf('Views', alias)) : nullType;
}

export function partialType(alias: string | null, { partials }: KnownTypes): Type {
  if (alias === null) return anyJson;
  const partial = partials.get(alias);
  if (partial === undefined) return nullType;
  const type = memberOf('Partials', alias);
  return partial.isCyclic ? orNull(type) : type;
}

/** @param isOfEntity true if bare names are fields of an entity; false in a partial */
export function propertiesType(
  properties: Json | undefined,
  known: KnownTypes,
  isOfEntity: boolean,
): ObjectType {
  if (!isJsonObject(properties ?? null)) return openObjectType;
  const mapping = new Mapping(known, isOfEntity);
  return mapping.object(properties as JsonObject);
}

class Mapping {
  constructor(
    private readonly known: KnownTypes,
    private readonly isOfEntity: boolean,
  ) {}

  object(properties: JsonObject): ObjectType {
    const members = Object.entries(properties).flatMap(([name, definition]): Member[] =>
      name === '*' ? [] : [{ name, type: this.definition(definition) }],
    );
    return { kind: 'object', members, isOpen: Object.hasOwn(properties, '*') };
  }

  definition(definition: Json): Type {
    if (typeof definition === 'string') return this.#text(definition);
    if (typeof definition === 'number') return numberType;
    if (typeof definition === 'boolean') return booleanType;
    if (!isJsonObject(definition)) return nullType;
    switch (definition.type) {
      case 'string':
        return this.#withDefault(
          this.#text(definition.value),
          this.#default(definition, (json) => this.#text(json)),
        );
      case 'number':
        return this.#scalar(definition, numberType);
      case 'boolean':
        return this.#scalar(definition, booleanType);
      case 'object':
        return this.#objectDefinition(definition.properties);
      case 'array':
        return listOf(definition.items === undefined ? anyJson : this.definition(definition.items));
      case 'reference':
        return referenceType(constantOf(definition.alias ?? definition.view), this.known);
      case 'partial':
        return partialType(constantOf(definition.alias), this.known);
      default:
        return anyJson;
    }
  }

  /** If `*` is the only property, the value is whatever the path selects. */
  #objectDefinition(properties: Json | undefined): Type {
    if (!isJsonObject(properties ?? null)) return anyJson;
    const object = this.object(properties as JsonObject);
    return object.isOpen && object.members.length === 0 ? anyJson : object;
  }

  /** The type of an expression in a string context. */
  #text(written: Json | undefined): Type {
    const json = isJsonObject(written ?? null) ? (written as JsonObject).$exp : written;
    if (typeof json === 'string') return canBeNull(json, this.isOfEntity) ? orNull(stringType) : stringType;
    return json === null || json === undefined ? nullType : stringType;
  }

  /** A number or a boolean: invalid values become null, unless a constant default replaces them. */
  #scalar(definition: JsonObject, type: Type): Type {
    const constant = (json: Json) => {
      const isSure = constantOf(json) !== null || typeof json === 'number' || typeof json === 'boolean';
      return isSure ? type : orNull(type);
    };
    const isSure = typeof definition.value === 'number' || typeof definition.value === 'boolean';
    return this.#withDefault(isSure ? type : orNull(type), this.#default(definition, constant));
  }

  #default(definition: JsonObject, typeOf: (json: Json) => Type): Type {
    return definition.default === undefined ? undefinedType : typeOf(definition.default);
  }

  #withDefault(value: Type, fallback: Type): Type {
    if (fallback === undefinedType) return value;
    const isNever = value.kind === 'name' && value !== nullType;
    if (isNever) return value;
    const present = value.kind === 'union' ? value.of.filter((one) => one !== nullType) : [];
    return unionOf([...present, fallback]);
  }
}

/** A string without holes; null for any other value. */
export function constantOf(json: Json | undefined): string | null {
  return typeof json === 'string' && !/[{}]/.test(json) ? json : null;
}
