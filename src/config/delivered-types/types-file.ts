/** The TypeScript source that `millrace types` writes (docs/guide/client.md "Types of your views"). */
import { type Expression, type Function as FunctionNode, parse, type SpreadElement } from 'acorn';
import { simple } from 'acorn-walk';
import { Cursor } from '../../contract/config-cursor.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import { runSync } from '../../lib/cooperative-yield.ts';
import type { CodeProgram } from '../../schemas/code/program.ts';
import { type FieldTypeName, readIndexFields } from '../../schemas/definition/index-fields.ts';
import type { ConfigDocuments } from '../configuration.ts';
import type { SchemaFolder } from '../document-path.ts';
import { parseDocuments, type TenantDocuments } from '../documents/tenant-documents.ts';
import { CodeScope, exportedObject, memberFunction } from './code-scope.ts';
import { CodeTypes } from './code-types.ts';
import { DeclaredTypes } from './declared-types.ts';
import { constantOf, type KnownTypes, propertiesType } from './mapping-types.ts';
import {
  anyJson,
  booleanType,
  listOf,
  type Member,
  namedType,
  numberType,
  type ObjectType,
  openObjectType,
  orNull,
  stringType,
  type Type,
  typeText,
  undefinedType,
  unionOf,
  without,
} from './type.ts';
import { partsOf, textParts } from './written-text.ts';

const range = namedType('Range');
const place = namedType('Place');
const numberOrText = unionOf([numberType, stringType]);

/** Queries return values as they were sent (docs/reference/indexes-and-queries.md "Field types"). */
const scalarTypes: Readonly<Record<string, Type>> = {
  keyword: stringType,
  text: stringType,
  boolean: booleanType,
  object: anyJson,
  integer: numberType,
  float: numberType,
  double: numberType,
  // These also accept strings of digits, and epoch milliseconds.
  long: numberOrText,
  date: numberOrText,
  integerRange: range,
  longRange: range,
  floatRange: range,
  doubleRange: range,
  dateRange: range,
  geoPoint: place,
};

/** An item of an index. Null and invalid values are absent. */
function itemType(fields: ReadonlyMap<string, FieldTypeName>): ObjectType {
  const members = [...fields].map(([name, type]) => ({ name, type: fieldType(type), isOptional: true }));
  return { kind: 'object', members, isOpen: false };
}

function fieldType(type: FieldTypeName): Type {
  if (!type.endsWith('[]')) return scalarTypes[type] ?? anyJson;
  return listOf(scalarTypes[type.slice(0, -2)] ?? anyJson);
}

/** The declarations of `Range` and `Place`. */
const itemTypesText = `/** One side can be open. */
export interface Range {
  readonly gt?: number | string;
  readonly gte?: number | string;
  readonly lt?: number | string;
  readonly lte?: number | string;
}

/** Degrees; a list is longitude, latitude. */
export type Place = { readonly lat: number; readonly lon: number } | readonly [number, number];
`;

/** The handles of a JSON schema. @param handles of its route */
function handlesOfMapping(handles: Json | undefined): Type[] {
  const list = Array.isArray(handles) ? handles : [];
  return list.map((handle) => {
    const written = isJsonObject(handle) ? handle.$exp : handle;
    if (typeof written !== 'string') return stringType;
    return templateType(partsOf(written).map((part) => (part.kind === 'literal' ? part.text : null)));
  });
}

/** The handles of a JavaScript schema; any string if it passes its context on. @param routes its function */
function handlesOfCode(routes: FunctionNode): Type[] {
  const [, context] = routes.params;
  if (context === undefined) return [];
  if (context.type !== 'Identifier') return [stringType];
  const handles: Type[] = [];
  let mentions = 0;
  let uses = 0;
  simple(routes.body, {
    Identifier: ({ name }) => {
      if (name === context.name) mentions += 1;
    },
    MemberExpression: ({ object, property, computed }) => {
      if (object.type !== 'Identifier' || object.name !== context.name || computed) return;
      if (property.type === 'Identifier') uses += 1;
    },
    CallExpression: ({ callee, arguments: [first] }) => {
      if (callee.type !== 'MemberExpression' || callee.object.type !== 'Identifier') return;
      if (callee.object.name !== context.name || callee.property.type !== 'Identifier') return;
      if (callee.property.name === 'handle' && first !== undefined) handles.push(...handleTypes(first));
    },
  });
  return mentions > uses ? [stringType] : handles;
}

/** Null adds no handle. */
function handleTypes(node: Expression | SpreadElement): Type[] {
  if (node.type === 'Literal' && node.value === null) return [];
  return [templateType(node.type === 'SpreadElement' ? [null] : (textParts(node) ?? [null]))];
}

const anyText = '$' + '{string}';

/** @param parts strings, and null for each hole */
function templateType(parts: readonly (string | null)[]): Type {
  if (parts.every((part) => part === null || part === '')) return stringType;
  const written = parts.map((part) => (part === null ? anyText : part.replaceAll(/[`\\$]/g, '\\$&')));
  return parts.includes(null)
    ? namedType(`\`${written.join('')}\``)
    : namedType(JSON.stringify(parts.join('')));
}

/**
 * @param documents valid documents of all tenants
 * @param alias of the tenant
 */
export function typesFile(documents: ConfigDocuments, alias: string): string {
  const files = runSync(parseDocuments(documents, { issues: [], warnings: [] })).get(alias);
  return files === undefined ? '' : new TypesOfTenant(alias, files, documents).text();
}

/** A source entity as schema code receives it. */
function entityType(properties: Type): Type {
  const types: Readonly<Record<string, Type>> = {
    ...{
      sourceId: stringType,
      id: stringType,
      type: stringType,
      originId: stringType,
      originParentId: orNull(stringType),
    },
    url: orNull(stringType),
    updatedAt: stringType,
    redirects: listOf(stringType),
    properties,
  };
  const members = Object.entries(types).map(([name, type]) => ({ name, type }));
  return { kind: 'object', members, isOpen: false };
}

class TypesOfTenant {
  readonly #programs: ReadonlyMap<string, CodeProgram>;
  readonly #known: KnownTypes;
  readonly #declared: DeclaredTypes;

  constructor(
    private readonly alias: string,
    private readonly files: TenantDocuments,
    documents: ConfigDocuments,
  ) {
    this.#declared = new DeclaredTypes(documents);
    this.#programs = new Map(files.programs.map((program) => [program.file, program]));
    const schemas = [...files.folders.schemas].filter(([, { file }]) => this.#makesView(file));
    this.#known = {
      views: new Set(schemas.map(([schema]) => schema)),
      partials: partialsOf(files.folders.partials, files.programs),
    };
  }

  text(): string {
    const { folders } = this.files;
    const views = this.#members('schemas').filter(({ name }) => this.#known.views.has(name));
    const handles = [...folders.schemas.values()].flatMap((root) => this.#handles(root));
    const indexes = [...folders.indexes].map(([name, root]) => this.#item(name, root));
    const partials = this.#members('partials');
    return [
      `/** What the tenant ${this.alias} delivers. Generated by \`npx millrace types\`: run it again when the schemas change. */`,
      `// biome-ignore-all lint/suspicious/noExplicitAny: what schemas do not say is any JSON.\n/* eslint-disable @typescript-eslint/no-explicit-any */\nexport type Json = any;`,
      interfaceText('Schema alias -> view; references are replaced by their views.', 'Views', views),
      ...(partials.length === 0 ? [] : [interfaceText('Results of partials.', 'Partials', partials)]),
      `/** Handles of views. */\nexport type Handle = ${typeText(unionOf(handles))};`,
      interfaceText('Index alias -> item, without the fields that every item has.', 'Indexes', indexes),
      itemTypesText.trimEnd(),
      '/** For `createClient<Millrace>(…)` of `millrace/client`. */\nexport interface Millrace {\n  readonly Views: Views;\n  readonly Handle: Handle;\n  readonly Indexes: Indexes;\n}',
    ]
      .join('\n\n')
      .concat('\n');
  }

  #makesView(file: string): boolean {
    const program = this.#programs.get(file);
    return program === undefined || program.members.includes('properties');
  }

  #members(folder: Exclude<SchemaFolder, 'indexes'>): Member[] {
    return [...this.files.folders[folder]].map(([name, root]) => ({
      name,
      type: this.#made(root, folder === 'schemas'),
      comment: fileInTenant(root),
    }));
  }

  /** The output type of a schema or a partial. */
  #made(root: Cursor, isOfEntity: boolean): Type {
    const program = this.#programs.get(root.file);
    if (program === undefined)
      return propertiesType(memberOf(root.json, 'properties'), this.#known, isOfEntity);
    const scope = scopeOf(program);
    const exported = exportedObject(scope);
    const properties = exported === null ? null : memberFunction(scope, exported, 'properties');
    if (properties === null) return openObjectType;
    const declared = this.#declared.ofSchema(root.file);
    const input = isOfEntity ? entityType(declared) : declared;
    const made = without(new CodeTypes(scope, this.#known).ofFunctionGiven(properties, input), undefinedType);
    return isOfEntity && made.kind === 'name' ? openObjectType : made;
  }

  #handles(root: Cursor): Type[] {
    const program = this.#programs.get(root.file);
    if (program === undefined) return handlesOfMapping(memberOf(memberOf(root.json, 'route'), 'handles'));
    const scope = scopeOf(program);
    const exported = exportedObject(scope);
    const routes = exported === null ? null : memberFunction(scope, exported, 'routes');
    return routes === null ? [] : handlesOfCode(routes);
  }

  #item(name: string, root: Cursor): Member {
    const program = this.#programs.get(root.file);
    const index = program === undefined ? memberOf(root.json, 'index') : program.index;
    const at = new Cursor(root.file, '$.index', index, { issues: [], warnings: [] });
    return { name, type: itemType(readIndexFields(at)), comment: fileInTenant(root) };
  }
}

function scopeOf({ code }: CodeProgram): CodeScope {
  return new CodeScope(
    parse(code, { ecmaVersion: 2022, sourceType: 'module', allowReturnOutsideFunction: true }),
  );
}

function memberOf(json: Json | undefined, name: string): Json | undefined {
  return isJsonObject(json ?? null) ? (json as Record<string, Json>)[name] : undefined;
}

function fileInTenant({ file }: Cursor): string {
  return file.split('/').slice(2).join('/');
}

function interfaceText(comment: string, name: string, members: readonly Member[]): string {
  const body = members.length === 0 ? '{}' : typeText({ kind: 'object', members, isOpen: false });
  return `/** ${comment} */\nexport interface ${name} ${body}`;
}

/** The partials of a tenant, and which of them may include themselves. */
function partialsOf(
  files: ReadonlyMap<string, Cursor>,
  programs: readonly CodeProgram[],
): KnownTypes['partials'] {
  const all = [...files.keys()];
  const usedBy = new Map(
    [...files].map(([alias, { file, json }]) => {
      const program = programs.find((one) => one.file === file);
      const used = program === undefined ? usedIn(json ?? null) : program.partials;
      return [alias, used ?? all] as const;
    }),
  );
  return new Map(all.map((alias) => [alias, { isCyclic: reachedFrom(alias, usedBy).has(alias) }]));
}

/** Aliases of partials that a definition uses; null if they are only known at run time. */
function usedIn(json: Json): readonly string[] | null {
  if (typeof json !== 'object' || json === null) return [];
  const own = isJsonObject(json) && json.type === 'partial' ? [constantOf(json.alias)] : [];
  const below = Object.values(json).map(usedIn);
  if (own.includes(null) || below.includes(null)) return null;
  return [...own, ...below.flat()].filter((alias) => alias !== null);
}

function reachedFrom(alias: string, usedBy: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set<string>();
  const waiting = [...(usedBy.get(alias) ?? [])];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    waiting.push(...(usedBy.get(next) ?? []));
  }
  return reached;
}
