/** `npm test -- --changed`: finds the tests that a change affects. A change whose effect is unknown affects all of them. */

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { CommandStop } from '../terminal/command-line.ts';

interface GitChanges {
  /** Name of the base that the branch is compared with: `main`. */
  readonly since: string;
  /** Changed, added and deleted files, relative to `root`. */
  readonly changed: readonly string[];
  /** Every existing file that is not ignored. */
  readonly files: readonly string[];
}

/** Possible base branches, the likeliest first. */
const usualBases = ['@{upstream}', 'main', 'origin/main', 'HEAD'];

/**
 * The differences from the commit where the branch began: in commits, the index and the working tree, and new files.
 * @param ref commit or branch to compare with; null for the upstream of the branch, or else `main`
 * @throws CommandStop if `root` is not a repository, or git does not know `ref`
 */
export function gitChanges(root: string, ref: string | null): GitChanges {
  const git = (...words: string[]) => pathsOf(root, words);
  if (git('rev-parse', '--git-dir') === null) {
    throw new CommandStop('--changed needs a git repository. Name test files or folders instead.');
  }
  const found = (ref === null ? usualBases : [ref]).find((base) => baseCommit(root, base) !== null);
  const commit = found === undefined ? null : baseCommit(root, found);
  if (found === undefined || commit === null) {
    throw new CommandStop(
      `--changed=${ref ?? ''}: git finds no commit that HEAD shares with it. Name a branch or a commit.`,
    );
  }
  const files = git('ls-files', '-z', '--cached', '--others', '--exclude-standard') ?? [];
  const added = git('ls-files', '-z', '--others', '--exclude-standard') ?? [];
  const differing = git('diff', '-z', '--name-only', '--no-renames', '--relative', commit) ?? [];
  const changed = [...new Set([...differing, ...added])].sort();
  return { since: found, changed, files: files.filter((file) => existsSync(path.join(root, file))) };
}

function baseCommit(root: string, ref: string): string | null {
  return pathsOf(root, ['merge-base', '--end-of-options', 'HEAD', ref])?.[0]?.trim() ?? null;
}

/** @returns null if git fails */
function pathsOf(root: string, words: readonly string[]): string[] | null {
  const { status, stdout } = spawnSync('git', words, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return status === 0 ? stdout.split('\0').filter((name) => name !== '') : null;
}

export interface AffectedTests {
  readonly tests: readonly string[];
  /** A changed file that any test may depend on; null if the affected tests are known. */
  readonly undecided: string | null;
}

/** Tests that check all of the source and documentation. They are fast. */
const checksOfAll: readonly string[] = [
  'test/layers.test.ts',
  'test/docs/citations.test.ts',
  'test/docs/links.test.ts',
  'test/docs/names.test.ts',
  'test/docs/runbook.test.ts',
  'test/docs/walks.test.ts',
  'test/lib/typed-command.test.ts',
];
const documentPattern = /^docs\/|^[^/]+\.md$|^bench\/(?!.*\.ts$)/;
const documentTestPattern = /^test\/docs(?:-site)?\//;
/** Files that only `npm run lint`, git and npm read. */
const readByNoTest: readonly string[] = ['biome.json', '.gitignore', 'LICENSE'];
const shownFiles = 3;

/**
 * The tests that the changes of a branch affect.
 * @param tests all test files, in the order in which they run
 * @param ref from `--changed=REF`; null for the default base
 * @returns the tests, and a summary to print
 * @throws CommandStop if git cannot find the changes
 */
export async function changedTests(
  root: string,
  tests: readonly string[],
  ref: string | null,
): Promise<{ readonly tests: readonly string[]; readonly summary: string }> {
  const { since, changed, files } = gitChanges(root, ref);
  const affected = await affectedTests(root, tests, files, changed);
  return { tests: affected.tests, summary: summaryOf(affected, tests.length, since, changed) };
}

/** @param total number of all test files */
export function summaryOf(
  { tests, undecided }: AffectedTests,
  total: number,
  since: string,
  changed: readonly string[],
): string {
  if (undecided !== null) {
    return `Running all ${total} test files: ${undecided} changed since ${since}, and any test may depend on it.`;
  }
  if (changed.length === 0) return `Running no test files: nothing changed since ${since}.`;
  const count =
    tests.length === 0
      ? 'no test files: none depends'
      : `${tests.length} of ${total} test files: they depend`;
  return `Running ${count} on what changed since ${since}: ${listed(changed)}.`;
}

/**
 * @param tests all test files, in the order in which they run
 * @param files every file of the repository
 * @param changed changed, added and deleted files
 */
export async function affectedTests(
  root: string,
  tests: readonly string[],
  files: readonly string[],
  changed: readonly string[],
): Promise<AffectedTests> {
  if (changed.length === 0) return { tests: [], undecided: null };
  const neededBy = reverse(await fileGraph(root, files));
  const reached = new Set<string>();
  for (const file of changed) {
    const touched = affectedBy(file, files, neededBy);
    if (touched === null) return { tests, undecided: file };
    for (const name of closure(touched, neededBy)) reached.add(name);
  }
  const isChecked = changed.some((file) => !readByNoTest.includes(file));
  const affected = tests.filter((test) => reached.has(test) || (isChecked && checksOfAll.includes(test)));
  return { tests: affected, undecided: null };
}

/**
 * The files that a change of a file affects directly, including itself; null if unknown. A file that is not code, such as a
 * style or a Lua script, or that was deleted, also affects the code in the nearest folder above it.
 */
function affectedBy(file: string, files: readonly string[], neededBy: FileGraph): string[] | null {
  if (readByNoTest.includes(file)) return [];
  if (documentPattern.test(file)) return [file, ...files.filter((name) => documentTestPattern.test(name))];
  if (isCode(file) && (files.includes(file) || file.startsWith('test/'))) return [file];
  if (!/^(?:src|test)\//.test(file)) return null;
  for (let folder = path.posix.dirname(file); folder !== '.'; folder = path.posix.dirname(folder)) {
    const code = files.filter((name) => path.posix.dirname(name) === folder && isCode(name));
    if (code.length > 0) return [file, ...code];
  }
  const isNamed = [...(neededBy.get(file) ?? [])].some((name) => name.startsWith('src/'));
  return isNamed ? [file] : null;
}

function reverse(graph: FileGraph): FileGraph {
  const neededBy = new Map<string, Set<string>>();
  for (const [file, needed] of graph) {
    for (const name of needed) neededBy.set(name, (neededBy.get(name) ?? new Set()).add(file));
  }
  return neededBy;
}

function closure(begin: readonly string[], neededBy: FileGraph): Set<string> {
  const reached = new Set(begin);
  for (const file of reached) for (const next of neededBy.get(file) ?? []) reached.add(next);
  return reached;
}

function listed(changed: readonly string[]): string {
  const more = changed.length - shownFiles;
  return `${changed.slice(0, shownFiles).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** File -> the files that it needs. Paths are relative to the repository. */
type FileGraph = ReadonlyMap<string, ReadonlySet<string>>;

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

/**
 * A file depends on those that it imports, and on those whose paths are in its strings, because it starts or reads them. Strings
 * come from the syntax tree, so paths in comments do not count.
 * @param files every file of the repository, relative to `root`
 */
async function fileGraph(root: string, files: readonly string[]): Promise<FileGraph> {
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

function isCode(file: string): boolean {
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
