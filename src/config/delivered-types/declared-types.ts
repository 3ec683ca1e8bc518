/**
 * The type that a TypeScript schema declares for the properties of its entities: the argument of `FullSchema<Article>` or
 * `PartialSchema<…>`. Only declarations in the tenant's own files are read. Anything missing or unsupported is any JSON.
 */
import { posix } from 'node:path';
import { tsPlugin } from '@sveltejs/acorn-typescript';
import { Parser } from 'acorn';
import type { ConfigDocuments } from '../configuration.ts';
import { moduleCandidates } from '../document-path.ts';
import { anyJson, type Type, undefinedType } from './type.ts';
import {
  type FindDeclaration,
  nameIn,
  nodeIn,
  nodesIn,
  type Placed,
  type SourceModule,
  type SyntaxNode,
  syntaxNode,
  TypeReader,
  textIn,
  typeArgumentsOf,
} from './type-reader.ts';

const typesModule = 'millrace/schema';
const schemaTypes = new Set(['FullSchema', 'PartialSchema']);
/** Maximum length of a chain of aliases. */
const depthMax = 20;

export class DeclaredTypes {
  readonly #modules = new Map<string, SourceModule | null>();

  /** @param documents of all tenants */
  constructor(private readonly documents: ConfigDocuments) {}

  /** The type that a schema file declares for its entities' properties, or for a partial's input; any JSON by default. */
  ofSchema(file: string): Type {
    const module = this.#module(file);
    const exported = module === null ? null : defaultExport(module);
    if (module === null || exported === null) return anyJson;
    const argument = this.#argumentOf({ node: exported, module }, 0);
    const type = argument === null ? anyJson : new TypeReader(this.#declaration).read(argument);
    return type === undefinedType ? anyJson : type;
  }

  readonly #declaration: FindDeclaration = (name, module) => {
    const own = module.declarations.get(name);
    if (own !== undefined) return own === null ? null : { node: own, module };
    const imported = module.imports.get(name);
    if (imported === undefined || !imported.from.startsWith('.')) return null;
    const other = this.#imported(posix.join(posix.dirname(module.file), imported.from));
    const node = other?.declarations.get(imported.name) ?? null;
    return other === null || node === null ? null : { node, module: other };
  };

  /** The type argument of an exported schema. */
  #argumentOf({ node, module }: Placed, depth: number): Placed | null {
    if (depth > depthMax) return null;
    const within = (inner: SyntaxNode | null) =>
      inner === null ? null : this.#argumentOf({ node: inner, module }, depth + 1);
    switch (node.type) {
      case 'TSSatisfiesExpression':
      case 'TSAsExpression':
      case 'TSTypeAssertion':
        return (
          this.#schemaArgument(nodeIn(node, 'typeAnnotation'), module) ?? within(nodeIn(node, 'expression'))
        );
      case 'Identifier': {
        const declared = this.#declaration(textIn(node, 'name') ?? '', module);
        return declared === null ? null : this.#argumentOf(declared, depth + 1);
      }
      case 'VariableDeclarator':
        return this.#schemaArgument(annotationOf(nodeIn(node, 'id')), module) ?? within(nodeIn(node, 'init'));
      case 'CallExpression':
        return this.#argumentOfCall(node, module);
      case 'ObjectExpression':
        return this.#argumentOfParameter(node, module);
      default:
        return null;
    }
  }

  /** The argument of `FullSchema<…>`, or of an alias of it. */
  #schemaArgument(type: SyntaxNode | null, module: SourceModule): Placed | null {
    if (type === null || type.type !== 'TSTypeReference') return null;
    const name = nameIn(type, 'typeName');
    if (name === null) return null;
    if (isFromSchemaTypes(name, module, schemaTypes)) return placed(typeArgumentsOf(type)[0], module);
    const alias = this.#declaration(name, module);
    if (alias?.node.type !== 'TSTypeAliasDeclaration' || nodeIn(alias.node, 'typeParameters') !== null)
      return null;
    const named = nodeIn(alias.node, 'typeAnnotation');
    return named === type ? null : this.#schemaArgument(named, alias.module);
  }

  /** `schemaOf<Article>({ … })` of a function with a parameter `FullSchema<T>`. */
  #argumentOfCall(call: SyntaxNode, module: SourceModule): Placed | null {
    const callee = nameIn(call, 'callee');
    const called = callee === null ? null : this.#declaration(callee, module);
    if (called === null) return null;
    const helper = called.node.type === 'VariableDeclarator' ? nodeIn(called.node, 'init') : called.node;
    if (helper === null) return null;
    const parameter = this.#schemaArgument(annotationOf(nodesIn(helper, 'params')[0] ?? null), called.module);
    const wanted = parameter === null ? null : nameIn(parameter.node, 'typeName');
    const names = nodesIn(nodeIn(helper, 'typeParameters'), 'params').map((one) => textIn(one, 'name'));
    return wanted === null ? null : placed(typeArgumentsOf(call)[names.indexOf(wanted)], module);
  }

  /** `properties(entity: SourceEntity<Article>)` of an object without a type. */
  #argumentOfParameter(object: SyntaxNode, module: SourceModule): Placed | null {
    const method = nodesIn(object, 'properties').find((one) => nameIn(one, 'key') === 'properties');
    const [entity] = nodesIn(nodeIn(method ?? null, 'value'), 'params');
    const type = annotationOf(entity ?? null);
    const name = type === null ? null : nameIn(type, 'typeName');
    if (type === null || name === null) return null;
    return isFromSchemaTypes(name, module, new Set(['SourceEntity']))
      ? placed(typeArgumentsOf(type)[0], module)
      : null;
  }

  #imported(path: string): SourceModule | null {
    const file = moduleCandidates(path).find((name) => this.documents.has(name));
    return file === undefined ? null : this.#module(file);
  }

  #module(file: string): SourceModule | null {
    const known = this.#modules.get(file);
    if (known !== undefined) return known;
    const text = this.documents.get(file);
    const module = text === undefined || !/\.[jt]s$/.test(file) ? null : moduleOf(file, text);
    this.#modules.set(file, module);
    return module;
  }
}

const TypeScriptParser = Parser.extend(tsPlugin());

/** Null if the file does not parse; then its types are unknown. */
function moduleOf(file: string, text: string): SourceModule | null {
  try {
    const parsed = TypeScriptParser.parse(text, { ecmaVersion: 2022, sourceType: 'module', locations: true });
    const tree = syntaxNode(parsed);
    return tree === null ? null : { file, tree, ...namesOf(tree) };
  } catch {
    return null;
  }
}

function namesOf(tree: SyntaxNode): Pick<SourceModule, 'declarations' | 'imports'> {
  const declarations = new Map<string, SyntaxNode | null>();
  const imports = new Map<string, { from: string; name: string }>();
  for (const statement of nodesIn(tree, 'body')) {
    const declared = nodeIn(statement, 'declaration') ?? statement;
    for (const node of declared.type === 'VariableDeclaration'
      ? nodesIn(declared, 'declarations')
      : [declared]) {
      const name = nameIn(node, 'id');
      if (name !== null) declarations.set(name, declarations.has(name) ? null : node);
    }
    if (statement.type !== 'ImportDeclaration') continue;
    const from = textIn(nodeIn(statement, 'source'), 'value') ?? '';
    for (const one of nodesIn(statement, 'specifiers')) {
      const local = nameIn(one, 'local');
      if (local !== null) imports.set(local, { from, name: nameIn(one, 'imported') ?? '' });
    }
  }
  return { declarations, imports };
}

function defaultExport({ tree }: SourceModule): SyntaxNode | null {
  for (const statement of nodesIn(tree, 'body')) {
    if (statement.type === 'ExportDefaultDeclaration') return nodeIn(statement, 'declaration');
    if (statement.type !== 'ExportNamedDeclaration' || nodeIn(statement, 'source') !== null) continue;
    const found = nodesIn(statement, 'specifiers').find((one) => nameIn(one, 'exported') === 'default');
    if (found !== undefined) return nodeIn(found, 'local');
  }
  return null;
}

function annotationOf(node: SyntaxNode | null): SyntaxNode | null {
  return nodeIn(nodeIn(node, 'typeAnnotation'), 'typeAnnotation');
}

function isFromSchemaTypes(name: string, { imports }: SourceModule, wanted: ReadonlySet<string>): boolean {
  const imported = imports.get(name);
  return imported?.from === typesModule && wanted.has(imported.name);
}

function placed(node: SyntaxNode | undefined, module: SourceModule): Placed | null {
  return node === undefined ? null : { node, module };
}
