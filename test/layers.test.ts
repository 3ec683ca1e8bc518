import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

/** The rooms of `src` from the bottom up; a room may import from lower floors, and from itself. */
const floors: readonly (readonly string[])[] = [
  // Runs all the others.
  ['typescript'],
  // Runs in browsers, and uses the platform only through HTTP.
  ['client'],
  ['console'],
  // Builds the documentation site, and is independent of the product.
  ['docs-site'],
  // Independent of the product.
  ['lib'],
  ['contract'],
  ['schemas', 'search'],
  ['sandbox'],
  ['config'],
  ['store'],
  ['actors', 'query', 'feed'],
  ['verify'],
  // Builds outputs to inspect them, and stores none.
  ['trial'],
  ['webhooks'],
  ['jobs'],
  ['http', 'cli'],
  // The code of the entry points in `workers`.
  ['process'],
];

/** Packages that only these rooms may use. */
const packageRooms: Readonly<Record<string, readonly string[]>> = {
  ioredis: ['store'],
  bullmq: ['store'],
  standardwebhooks: ['webhooks'],
  'uWebSockets.js': ['http'],
  // The search of the documentation runs in browsers.
  flexsearch: ['search', 'docs-site'],
  'snowball-stemmers': ['search'],
  htmlparser2: ['search'],
};

/** Rooms that read only their input: no files, no network, no clock, no randomness. */
const pureRooms = new Set(['contract', 'schemas', 'search']);
/** Modules of Node without side effects; `node:module` loads a package when it is first needed. */
const pureModules = new Set(['node:assert', 'node:buffer', 'node:crypto', 'node:module', 'node:util']);
const impurePattern =
  /\b(?:Date\.now|performance\.now|Math\.random|setTimeout|setInterval|process\.[a-z]+)\b|\bnew Date\(\)/;

const topLevelEntries = [
  '.ci',
  '.dockerignore',
  '.gitignore',
  '.npmrc',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'Dockerfile',
  'LICENSE',
  'Procfile',
  'README.md',
  'bench',
  'biome.json',
  'compose.yaml',
  'config',
  'docs',
  'package-lock.json',
  'package.json',
  'src',
  'test',
  'tsconfig.json',
  'workers',
];

interface Import {
  readonly file: string;
  readonly room: string;
  readonly specifier: string;
  readonly isTypeOnly: boolean;
  /** The room of `src` that an import leads to; null for packages and files outside. */
  readonly target: string | null;
}

const importPattern =
  /^\s*(?:import|export)\s+(type\s+)?(?:[^;'"]*?\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm;

function sourceFiles(): string[] {
  return readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:tsx?|mjs)$/.test(file))
    .map((file) => path.join('src', file));
}

function roomOf(file: string): string {
  return path.relative('src', file).split(path.sep)[0] ?? '';
}

function importsOf(file: string): Import[] {
  const text = readFileSync(path.join(root, file), 'utf8');
  return [...text.matchAll(importPattern)].map(([, type, fixed, dynamic]) => {
    const specifier = fixed ?? dynamic ?? '';
    const reached = specifier.startsWith('.') ? path.join(path.dirname(file), specifier) : null;
    const target = reached?.startsWith(`src${path.sep}`) ? roomOf(reached) : null;
    return { file, room: roomOf(file), specifier, isTypeOnly: type !== undefined, target };
  });
}

const imports = sourceFiles().flatMap(importsOf);

function floorOf(room: string): number {
  return floors.findIndex((rooms) => rooms.includes(room));
}

function reported(wrong: readonly Import[]): string[] {
  return wrong.map(({ file, specifier }) => `${file} imports ${specifier}`);
}

function mayImport({ room, target, isTypeOnly, specifier }: Import): boolean {
  if (target === null || target === room) return true;
  if (room === 'search' && target === 'schemas') return isTypeOnly;
  // The console shares the types of answers, and of code only what names views.
  if (room === 'console' && target === 'contract') return isTypeOnly || specifier.endsWith('/view-title.ts');
  // Others serve its files without knowing their content.
  if (target === 'console') return specifier.endsWith('/console/files.mjs');
  return floorOf(target) < floorOf(room);
}

test('layers: every room of src has its floor', () => {
  const rooms = readdirSync(path.join(root, 'src'));
  assert.deepEqual(
    rooms.filter((room) => floorOf(room) === -1),
    [],
  );
  assert.ok(imports.length > 100, 'imports are found at all');
});

test('layers: imports lead downwards only', () => {
  assert.deepEqual(reported(imports.filter((entry) => !mayImport(entry))), []);
});

test('layers: only the store uses Redis, only http uWebSockets.js, only search FlexSearch', () => {
  const wrong = imports.filter(({ specifier, room }) => {
    const owners = packageRooms[specifier];
    return owners !== undefined && !owners.includes(room);
  });
  assert.deepEqual(reported(wrong), []);
});

test('layers: schemas and search are pure', () => {
  const wrong = imports.filter(
    ({ room, specifier }) =>
      pureRooms.has(room) && specifier.startsWith('node:') && !pureModules.has(specifier),
  );
  assert.deepEqual(reported(wrong), []);
  const impure = sourceFiles()
    .filter((file) => pureRooms.has(roomOf(file)))
    .filter((file) => impurePattern.test(withoutComments(readFileSync(path.join(root, file), 'utf8'))));
  assert.deepEqual(impure, []);
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}

test('layers: the import graph of src has no cycles, types included', () => {
  const edges = new Map<string, string[]>();
  for (const { file, specifier } of imports) {
    if (!specifier.startsWith('.')) continue;
    edges.set(file, [...(edges.get(file) ?? []), path.join(path.dirname(file), specifier)]);
  }
  assert.deepEqual(findCycle(edges), []);
});

/** A cycle as the files along it, or nothing. */
function findCycle(edges: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const visit = (file: string, trail: readonly string[]): string[] => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const next of edges.get(file) ?? []) {
      const cycle = visit(next, [...trail, file]);
      if (cycle.length > 0) return cycle;
    }
    done.add(file);
    return [];
  };
  for (const file of edges.keys()) {
    const cycle = visit(file, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}

test('layers: the folders of a room import in one direction', () => {
  assert.deepEqual(circlesOf(folderEdges()), []);
});

test('layers: cycles of folders are found', () => {
  const edges = new Map([
    ['a', new Set(['b'])],
    ['b', new Set(['c', 'd'])],
    ['c', new Set(['a'])],
    ['d', new Set(['e'])],
  ]);
  assert.deepEqual(circlesOf(edges), [['a', 'b', 'c']]);
});

/** Imports between the folders of each room. Files of the room itself may be above or below any folder. */
function folderEdges(): Map<string, Set<string>> {
  const folderOf = (file: string) => path.relative('src', path.dirname(file));
  const edges = new Map<string, Set<string>>();
  for (const { file, room, specifier, target } of imports) {
    if (target !== room) continue;
    const from = folderOf(file);
    const to = folderOf(path.join(path.dirname(file), specifier));
    if (from === to || from === room || to === room) continue;
    edges.set(from, (edges.get(from) ?? new Set()).add(to));
  }
  return edges;
}

/** Sets of nodes that can all reach each other. */
function circlesOf(edges: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const reached = new Map([...edges.keys()].map((node) => [node, reachedFrom(node, edges)]));
  const circles = new Map<string, string[]>();
  for (const [node, others] of reached) {
    if (!others.has(node)) continue;
    const circle = [...others].filter((other) => reached.get(other)?.has(node)).sort();
    circles.set(circle.join(' '), circle);
  }
  return [...circles.values()];
}

function reachedFrom(node: string, edges: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const reached = new Set<string>();
  const open = [node];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const other of edges.get(next) ?? []) {
      if (!reached.has(other)) open.push(other);
      reached.add(other);
    }
  }
  return reached;
}

test('layers: the table of rooms in ARCHITECTURE.md has every room, and all folders of a room or none', () => {
  const text = readFileSync(path.join(root, 'ARCHITECTURE.md'), 'utf8');
  const rows = new Map(
    [...text.matchAll(/^\| `src\/([\w-]+)\/` \| (.*) \|$/gm)].map(([, room, has]) => [room, has]),
  );
  assert.deepEqual([...rows.keys()].sort(), readdirSync(path.join(root, 'src')).sort());
  for (const [room = '', has = ''] of rows) {
    const named = [...has.matchAll(/`([\w-]+)\/`/g)].map(([, folder]) => folder);
    const folders = readdirSync(path.join(root, 'src', room), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    if (named.length > 1)
      assert.deepEqual(
        folders.filter((folder) => !named.includes(folder)),
        [],
        room,
      );
  }
});

test('layers: the top level has what a newcomer expects and nothing else', () => {
  const ignored = readFileSync(path.join(root, '.gitignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => new RegExp(`^${line.replace(/\/$/, '').replaceAll('.', '\\.').replaceAll('*', '.*')}$`));
  const entries = readdirSync(root).filter(
    (entry) => entry !== '.git' && !ignored.some((pattern) => pattern.test(entry)),
  );
  assert.deepEqual(entries.sort(), topLevelEntries);
});
