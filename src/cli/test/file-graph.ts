/**
 * Which files of the repository a file needs: those that it imports, and those whose paths are written in it, because it
 * starts or reads them. Strings are found in the syntax tree, so a path in a comment does not count.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** File -> the files that it needs. Paths are relative to the repository. */
export type FileGraph = ReadonlyMap<string, ReadonlySet<string>>;

const codePattern = /\.(?:tsx?|mjs)$/;
/** In a test, `docs` is a folder that it reads. In `src` it is a word like any other. */
const testPattern = /^test\//;
/** Too common a word in tests. Tests that read all tests are in `checksOfAll`. */
const usualWord = 'test';
/** Longer strings are not paths. */
const pathCharactersMax = 200;
/** Files that start others by names which are made while they run. */
const started: readonly (readonly [string, RegExp])[] = [
  ['src/cli/bootstrap/run-command.mjs', /^src\/cli\/(?!(?:bench|coverage|docs|test)\.)[^/]+\.ts$/],
  ['test/cli/suite.test.ts', /^src\/cli\/(?:test|coverage)\.ts$/],
  ['test/cli/bootstrap.test.ts', /^src\/cli\/bench\.ts$/],
  ['Procfile', /^workers\/[^/]+\.ts$/],
];

/** @param files every file of the repository, relative to `root` */
export async function fileGraph(root: string, files: readonly string[]): Promise<FileGraph> {
  // Only this command needs the compiler.
  const { default: ts } = await import('typescript');
  const named = new NamedFiles(files);
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

/** Strings of a file, and the beginnings of those that are built from parts. */
function stringsOf(ts: Compiler, file: string): string[] {
  const texts: string[] = [];
  const visit = (node: Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node)) texts.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest));
  return texts;
}

/** The files that a string names: a file itself, or all files in a folder. */
class NamedFiles {
  readonly #files: ReadonlySet<string>;
  /** Folder with a slash at its end -> all files in it. */
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

  /** @param file where the string is */
  by(file: string, text: string): readonly string[] {
    if (text === '' || text.length > pathCharactersMax) return [];
    const fromHere = path.posix.join(path.posix.dirname(file), text);
    const found = [fromHere, path.posix.normalize(text)].filter((name) => this.#files.has(name));
    if (found.length > 0) return found;
    const isRelative = /^\.\.?\//.test(text);
    if (!isRelative && (!testPattern.test(file) || text === usualWord)) return [];
    const folder = `${(isRelative ? fromHere : text).replace(/\/+$/, '')}/`;
    // A folder above its own is named to find others in it.
    return file.startsWith(folder) ? [] : (this.#folders.get(folder) ?? []);
  }
}
