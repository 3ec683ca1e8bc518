/**
 * The dependency graph of the repository: a file depends on those that it imports, and on those whose paths are in its strings,
 * because it starts or reads them. Strings come from the syntax tree, so paths in comments do not count.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** File -> the files that it needs. Paths are relative to the repository. */
export type FileGraph = ReadonlyMap<string, ReadonlySet<string>>;

const codePattern = /\.(?:tsx?|mjs)$/;
/** Only in a test, a string such as `docs` means that it reads the folder. */
const testPattern = /^test\//;
/** Too common in tests to mean a folder. Tests that read all tests are in `checksOfAll`. */
const ambiguousName = 'test';
/** Longer strings are not paths. */
const pathCharactersMax = 200;
/** Files that start others by names that are computed at run time. */
const started: readonly (readonly [string, RegExp])[] = [
  ['src/cli/bootstrap/run-command.mjs', /^src\/cli\/(?!(?:bench|coverage|docs|test)\.)[^/]+\.ts$/],
  ['test/cli/suite.test.ts', /^src\/cli\/(?:test|coverage)\.ts$/],
  ['test/cli/bootstrap.test.ts', /^src\/cli\/bench\.ts$/],
  ['Procfile', /^workers\/[^/]+\.ts$/],
];

/** @param files every file of the repository, relative to `root` */
export async function fileGraph(root: string, files: readonly string[]): Promise<FileGraph> {
  // Loaded on demand, because only this command needs the compiler.
  const { default: ts } = await import('typescript');
  const named = new PathResolver(files);
  const graph = new Map<string, Set<string>>();
  for (const file of files.filter(isCode)) {
    const texts = stringsOf(ts, path.join(root, file));
    graph.set(file, new Set(texts.flatMap((text) => named.by(file, text))));
  }
  for (const [file, pattern] of started) {
    graph.set(file, new Set([...(graph.get(file) ?? []), ...files.filter((other) => pattern.test(other))]));
  }
  return graph;
}

export function isCode(file: string): boolean {
  return codePattern.test(file);
}

type Compiler = typeof import('typescript');
type Node = import('typescript').Node;

/** String literals of a file, and the beginnings of template strings. */
function stringsOf(ts: Compiler, file: string): string[] {
  const texts: string[] = [];
  const visit = (node: Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node)) texts.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest));
  return texts;
}

/** Resolves a string to the file or to all files of the folder that it names. */
class PathResolver {
  readonly #files: ReadonlySet<string>;
  /** Folder with a trailing slash -> all files in it. */
  readonly #folders = new Map<string, string[]>();

  constructor(files: readonly string[]) {
    this.#files = new Set(files);
    for (const file of files) {
      for (let end = file.indexOf('/'); end >= 0; end = file.indexOf('/', end + 1)) {
        const folder = file.slice(0, end + 1);
        const inside = this.#folders.get(folder) ?? [];
        inside.push(file);
        this.#folders.set(folder, inside);
      }
    }
  }

  /** @param file the file with the string */
  by(file: string, text: string): readonly string[] {
    if (text === '' || text.length > pathCharactersMax) return [];
    const fromHere = path.posix.join(path.posix.dirname(file), text);
    const found = [fromHere, path.posix.normalize(text)].filter((name) => this.#files.has(name));
    if (found.length > 0) return found;
    const isRelative = /^\.\.?\//.test(text);
    if (!isRelative && (!testPattern.test(file) || text === ambiguousName)) return [];
    const folder = `${(isRelative ? fromHere : text).replace(/\/+$/, '')}/`;
    // A parent folder of the file is only a base for other paths.
    return file.startsWith(folder) ? [] : (this.#folders.get(folder) ?? []);
  }
}
