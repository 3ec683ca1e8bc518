/** Bundles a JavaScript or TypeScript schema with everything that it imports from its tenant's folder. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { posix } from 'node:path';
import { type Program, parse } from 'acorn';
import type { Message, OnLoadResult, Plugin } from 'esbuild-wasm';
import esbuild from 'esbuild-wasm/lib/browser.js';
import type { ConfigIssue } from '../../../contract/diagnostic.ts';
import { quote } from '../../../lib/message-text.ts';
import { lineStartsOf } from '../../../lib/text-position.ts';
import { sourcePosition } from '../../../schemas/code/program.ts';
import { moduleCandidates } from '../../document-path.ts';
import { ModuleRefused, type ReadModule } from '../compiler-protocol.ts';
import { variableImport } from './analysis.ts';

export interface Bundle {
  /** The body of a function that returns the default export. */
  readonly code: string;
  readonly map: string;
  /** The file and its imports. */
  readonly files: readonly string[];
  /** Syntax tree of the code, before its export is replaced by a return. */
  readonly tree: Program;
}

const namespace = 'tenant';
const typesModule = 'millrace/schema';
const language = { ecmaVersion: 2022, sourceType: 'module' } as const;
/** Keeps esbuild from following source maps of the sources: the last such comment in a file counts, and this one is empty. */
const noSourceMap = '\n//# sourceMappingURL=data:application/json,{"version":3,"sources":[],"mappings":""}';

/**
 * @param file path of the schema, relative to CONFIG_DIR
 * @param issues receives every error, with line and column
 */
export async function bundle(file: string, read: ReadModule, issues: ConfigIssue[]): Promise<Bundle | null> {
  const tenantFolder = file.split('/').slice(0, 2).join('/');
  const texts = new Map<string, string>();
  try {
    const { build } = await startedEsbuild();
    const { outputFiles, metafile } = await build({
      metafile: true,
      entryPoints: [file],
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'neutral',
      target: 'es2022',
      supported: { 'top-level-await': false },
      sourcemap: 'external',
      sourcesContent: false,
      outfile: 'schema.js',
      charset: 'utf8',
      legalComments: 'none',
      logLevel: 'silent',
      plugins: [tenantFiles(tenantFolder, read, texts)],
    });
    const text = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
    const files = Object.keys(metafile.inputs)
      .filter((input) => input.startsWith(`${namespace}:`))
      .map((input) => input.slice(namespace.length + 1));
    return returning({ file, files }, text('.js'), text('.js.map'), issues);
  } catch (error) {
    issues.push(...issuesOf(error, file, texts));
    return null;
  }
}

function returning(
  { file, files }: { readonly file: string; readonly files: readonly string[] },
  text: string,
  map: string,
  issues: ConfigIssue[],
): Bundle | null {
  const tree = parsed(text, { file, map: mapOf(map) }, issues);
  if (tree === null) return null;
  let code = text;
  let hasDefault = false;
  // From the end, so that earlier offsets stay valid.
  for (const node of [...tree.body].reverse()) {
    let replacement: string | null = null;
    if (node.type === 'ExportDefaultDeclaration') {
      replacement = `return ${text.slice(node.declaration.start, node.declaration.end)};`;
    } else if (node.type === 'ExportNamedDeclaration') {
      const specifier = node.specifiers.find(
        ({ exported }) => exported.type === 'Identifier' && exported.name === 'default',
      );
      const local = specifier?.local;
      replacement = local?.type === 'Identifier' ? `return ${local.name};` : '';
    }
    if (replacement === null) continue;
    hasDefault ||= replacement !== '';
    code = code.slice(0, node.start) + replacement + code.slice(node.end);
  }
  if (hasDefault) return { code, map: mapOf(map), files, tree };
  const advice = 'Write export default { triggers(context) { … }, properties(entity, context) { … } }.';
  issues.push({ file, path: '$', message: 'the default export is missing', advice });
  return null;
}

/** esbuild accepts some code that this parser rejects, such as invalid regular expressions and newer syntax. */
function parsed(
  text: string,
  bundled: { readonly file: string; readonly map: string },
  issues: ConfigIssue[],
): Program | null {
  try {
    return parse(text, language);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const { loc } = error as SyntaxError & {
      readonly loc?: { readonly line: number; readonly column: number };
    };
    const position = loc === undefined ? null : sourcePosition(bundled, loc.line, loc.column + 1);
    issues.push({
      file: position?.file ?? bundled.file,
      path: position === null ? '$' : `${position.line}:${position.column}`,
      message: error.message.replace(/ \(\d+:\d+\)$/, ''),
      advice: codeAdvice,
    });
    return null;
  }
}

/** The source map with source paths relative to CONFIG_DIR. */
function mapOf(map: string): string {
  const { sources, mappings, names } = JSON.parse(map) as Record<'sources' | 'mappings' | 'names', string[]>;
  const paths = sources.map((source) => source.slice(source.indexOf(`${namespace}:`) + namespace.length + 1));
  return JSON.stringify({ version: 3, sources: paths, names, mappings });
}

/** @param texts receives the loaded texts by path */
function tenantFiles(tenantFolder: string, read: ReadModule, texts: Map<string, string>): Plugin {
  const find = async (path: string): Promise<string | null> => {
    for (const candidate of moduleCandidates(path)) {
      if ((await read(candidate)) !== null) return candidate;
    }
    return null;
  };
  return {
    name: pluginOfImports,
    setup(setup) {
      setup.onResolve({ filter: /.*/ }, async ({ path, importer, kind }) => {
        if (kind === 'entry-point') return { path, namespace };
        if (path === typesModule) return { path, namespace: 'types' };
        if (!path.startsWith('./') && !path.startsWith('../')) {
          return { errors: [{ text: `packages cannot be imported: ${quote(path)}` }] };
        }
        const target = posix.join(posix.dirname(importer), path);
        if (!target.startsWith(`${tenantFolder}/`)) {
          return { errors: [{ text: `${quote(path)} is outside the tenant's folder` }] };
        }
        try {
          const found = await find(target);
          if (found !== null) return { path: found, namespace };
          return { errors: [{ text: `there is no file ${quote(path)}` }] };
        } catch (error) {
          if (!(error instanceof ModuleRefused)) throw error;
          return { errors: [{ text: `${quote(path)} ${error.message}` }] };
        }
      });
      setup.onLoad({ filter: /.*/, namespace: 'types' }, () => ({ contents: '', loader: 'js' }));
      setup.onLoad({ filter: /.*/, namespace }, async ({ path }): Promise<OnLoadResult> => {
        const contents = (await read(path)) ?? '';
        texts.set(path, contents);
        if (path.endsWith('.json')) return { contents, loader: 'json' };
        return { contents: contents + noSourceMap, loader: path.endsWith('.ts') ? 'ts' : 'js' };
      });
    },
  };
}

const pluginOfImports = 'tenant-files';
/** The end of an error that esbuild adds when it looks for the files that an import with a variable may mean. */
const withoutFiles = ': not implemented on js';
const importsMany = /^Could not resolve (?:import|require)\(/;
const codeAdvice = 'Correct the code there.';
const importAdvice = 'Import files of the tenant\'s own folder by their relative path: "./helpers.ts".';

function issuesOf(error: unknown, file: string, texts: ReadonlyMap<string, string>): ConfigIssue[] {
  const { errors } = error as { errors?: readonly Message[] };
  if (errors === undefined) throw error;
  return errors
    .filter(({ text }) => !text.endsWith(withoutFiles))
    .map(({ text, location, pluginName }) => {
      const path = location?.file.replace(`${namespace}:`, '') ?? file;
      return {
        file: path,
        path:
          location === null ? '$' : placeWithin(texts.get(path) ?? '', location.line, location.column + 1),
        ...(importsMany.test(text)
          ? variableImport
          : { message: text, advice: pluginName === pluginOfImports ? importAdvice : codeAdvice }),
      };
    });
}

/** Moves a position in the appended comment back to the end of the file, as for a missing closing brace. */
function placeWithin(text: string, line: number, column: number): string {
  const starts = lineStartsOf(text);
  if (line <= starts.length) return `${line}:${column}`;
  return `${starts.length}:${text.length - (starts.at(-1) ?? 0) + 1}`;
}

/*
 * esbuild without file access. The native esbuild bypasses plugins and opens files that the code names, such as a source
 * map, or all files that an `import` with a variable may mean. So this uses the WebAssembly build for browsers, which can
 * only call the globals that it receives here.
 */

/** The globals that Go's runtime needs. For files and processes it then falls back to functions that always fail. */
const reachable = {
  Object,
  Array,
  Uint8Array,
  Date,
  Error,
  Promise,
  TextEncoder,
  TextDecoder,
  crypto,
  performance,
};

declare global {
  // Part of Node, but missing in its types before version 22.
  namespace WebAssembly {
    function compile(bytes: Uint8Array): Promise<Module>;
  }
}

let starting: Promise<void> | null = null;

/** Its `build` never reads or writes files. After an error other than a `BuildFailure` it is unusable. */
export async function startedEsbuild(): Promise<Pick<typeof esbuild, 'build'>> {
  starting ??= start();
  await starting;
  return esbuild;
}

async function start(): Promise<void> {
  const file = createRequire(import.meta.url).resolve('esbuild-wasm/esbuild.wasm');
  const wasmModule = await WebAssembly.compile(readFileSync(file));
  // In browsers, `self` is the global object.
  Object.defineProperty(globalThis, 'self', { value: Object.freeze(reachable), configurable: true });
  await esbuild.initialize({ wasmModule, worker: false });
}
