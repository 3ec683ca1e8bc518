import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

/** The layers of `src` from the bottom up; a layer may import from lower levels, and from itself. */
const levels: readonly (readonly string[])[] = [
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

/** Packages that only these layers may use. */
const packageLayers: Readonly<Record<string, readonly string[]>> = {
  ioredis: ['store'],
  bullmq: ['store'],
  standardwebhooks: ['webhooks'],
  'uWebSockets.js': ['http'],
  // The search of the documentation runs in browsers.
  flexsearch: ['search', 'docs-site'],
  'snowball-stemmers': ['search'],
  htmlparser2: ['search'],
};

/** Layers that read only their input: no files, no network, no clock, no randomness. */
const pureLayers = new Set(['contract', 'schemas', 'search']);
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
  readonly layer: string;
  readonly specifier: string;
  readonly isTypeOnly: boolean;
  /** The layer of `src` that an import leads to; null for packages and files outside. */
  readonly target: string | null;
}

const importPattern =
  /^\s*(?:import|export)\s+(type\s+)?(?:[^;'"]*?\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm;

function sourceFiles(): string[] {
  return readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:tsx?|mjs)$/.test(file))
    .map((file) => path.join('src', file));
}

function layerOf(file: string): string {
  return path.relative('src', file).split(path.sep)[0] ?? '';
}

function importsOf(file: string): Import[] {
  const text = readFileSync(path.join(root, file), 'utf8');
  return [...text.matchAll(importPattern)].map(([, type, fixed, dynamic]) => {
    const specifier = fixed ?? dynamic ?? '';
    const reached = specifier.startsWith('.') ? path.join(path.dirname(file), specifier) : null;
    const target = reached?.startsWith(`src${path.sep}`) ? layerOf(reached) : null;
    return { file, layer: layerOf(file), specifier, isTypeOnly: type !== undefined, target };
  });
}

const imports = sourceFiles().flatMap(importsOf);

function levelOf(layer: string): number {
  return levels.findIndex((layers) => layers.includes(layer));
}

function reported(wrong: readonly Import[]): string[] {
  return wrong.map(({ file, specifier }) => `${file} imports ${specifier}`);
}

function mayImport({ layer, target, isTypeOnly, specifier }: Import): boolean {
  if (target === null || target === layer) return true;
  if (layer === 'search' && target === 'schemas') return isTypeOnly;
  // The console shares the types of answers, and of code only what names views.
  if (layer === 'console' && target === 'contract') return isTypeOnly || specifier.endsWith('/view-title.ts');
  // Others serve its files without knowing their content.
  if (target === 'console') return specifier.endsWith('/console/files.mjs');
  return levelOf(target) < levelOf(layer);
}

test('layers: every layer of src has its level', () => {
  const layers = readdirSync(path.join(root, 'src'));
  assert.deepEqual(
    layers.filter((layer) => levelOf(layer) === -1),
    [],
  );
  assert.ok(imports.length > 100, 'imports are found at all');
});

test('layers: imports lead downwards only', () => {
  assert.deepEqual(reported(imports.filter((entry) => !mayImport(entry))), []);
});

test('layers: only the store uses Redis, only http uWebSockets.js, only search FlexSearch', () => {
  const wrong = imports.filter(({ specifier, layer }) => {
    const owners = packageLayers[specifier];
    return owners !== undefined && !owners.includes(layer);
  });
  assert.deepEqual(reported(wrong), []);
});

test('layers: schemas and search are pure', () => {
  const wrong = imports.filter(
    ({ layer, specifier }) =>
      pureLayers.has(layer) && specifier.startsWith('node:') && !pureModules.has(specifier),
  );
  assert.deepEqual(reported(wrong), []);
  const impure = sourceFiles()
    .filter((file) => pureLayers.has(layerOf(file)))
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

test('layers: the folders of a layer import in one direction', () => {
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

/** Imports between the folders of each layer. Files of the layer itself may be above or below any folder. */
function folderEdges(): Map<string, Set<string>> {
  const folderOf = (file: string) => path.relative('src', path.dirname(file));
  const edges = new Map<string, Set<string>>();
  for (const { file, layer, specifier, target } of imports) {
    if (target !== layer) continue;
    const from = folderOf(file);
    const to = folderOf(path.join(path.dirname(file), specifier));
    if (from === to || from === layer || to === layer) continue;
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

test('layers: the table of layers in ARCHITECTURE.md has every layer, and all folders of a layer or none', () => {
  const text = readFileSync(path.join(root, 'ARCHITECTURE.md'), 'utf8');
  const rows = new Map(
    [...text.matchAll(/^\| `src\/([\w-]+)\/` \| (.*) \|$/gm)].map(([, layer, has]) => [layer, has]),
  );
  assert.deepEqual([...rows.keys()].sort(), readdirSync(path.join(root, 'src')).sort());
  for (const [layer = '', has = ''] of rows) {
    const named = [...has.matchAll(/`([\w-]+)\/`/g)].map(([, folder]) => folder);
    const folders = readdirSync(path.join(root, 'src', layer), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    if (named.length > 1)
      assert.deepEqual(
        folders.filter((folder) => !named.includes(folder)),
        [],
        layer,
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
