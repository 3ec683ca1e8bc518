/** The text of TypeScript that `millrace types` writes (docs/guide/client.md "Types of your views"). */
import { parse } from 'acorn';
import { Cursor } from '../../contract/config-cursor.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import { atOnce } from '../../lib/pace.ts';
import type { CodeProgram } from '../../schemas/code/program.ts';
import { readIndexFields } from '../../schemas/definition/index-fields.ts';
import type { ConfigDocuments } from '../configuration.ts';
import type { SchemaFolder } from '../documents/document-path.ts';
import { parseDocuments, type TenantDocuments } from '../documents/tenant-documents.ts';
import { CodeScope, exportedObject, memberFunction } from './code-scope.ts';
import { CodeTypes } from './code-types.ts';
import { handlesOfCode, handlesOfMapping } from './handles.ts';
import { itemType, itemTypesText } from './item-types.ts';
import { type KnownTypes, propertiesType } from './mapping-types.ts';
import { partialsOf } from './partials.ts';
import { absent, type Member, openObject, type Type, typeText, unionOf, without } from './type.ts';

/** @param documents of all tenants, sound ones @param alias of the tenant */
export function typesFile(documents: ConfigDocuments, alias: string): string {
  const files = atOnce(parseDocuments(documents, { mistakes: [], warnings: [] })).get(alias);
  return files === undefined ? '' : new TypesOfTenant(alias, files).text();
}

class TypesOfTenant {
  readonly #programs: ReadonlyMap<string, CodeProgram>;
  readonly #known: KnownTypes;

  constructor(
    private readonly alias: string,
    private readonly files: TenantDocuments,
  ) {
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
      `/** What the tenant ${this.alias} delivers. Made by \`millrace types\`: make it anew when the schemas change. */`,
      `// biome-ignore-all lint/suspicious/noExplicitAny: what schemas do not say is any JSON.\n/* eslint-disable @typescript-eslint/no-explicit-any */\nexport type Json = any;`,
      interfaceText('Schema alias -> view; references are in their places.', 'Views', views),
      ...(partials.length === 0 ? [] : [interfaceText('What partials make.', 'Partials', partials)]),
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

  /** What a schema or a partial makes. */
  #made(root: Cursor, isOfEntity: boolean): Type {
    const program = this.#programs.get(root.file);
    if (program === undefined)
      return propertiesType(memberOf(root.json, 'properties'), this.#known, isOfEntity);
    const scope = scopeOf(program);
    const exported = exportedObject(scope);
    const properties = exported === null ? null : memberFunction(scope, exported, 'properties');
    if (properties === null) return openObject;
    const made = without(new CodeTypes(scope, this.#known).ofFunction(properties), absent);
    return isOfEntity && made.kind === 'name' ? openObject : made;
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
    const at = new Cursor(root.file, '$.index', index, { mistakes: [], warnings: [] });
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
