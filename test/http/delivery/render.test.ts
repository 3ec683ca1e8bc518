import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ProblemError } from '../../../src/contract/errors.ts';
import {
  type LoadedView,
  plainReferences,
  type ReferenceStyle,
  Rendering,
  wrappedReferences,
} from '../../../src/http/delivery/render.ts';
import type { StoredReference } from '../../../src/store/derived/stored-body.ts';
import { viewTarget } from '../../../src/store/derived/views.ts';
import { runs } from '../../support/runs.ts';

/** A graph: the references of each view; numbers beyond the graph are missing views. */
type Graph = readonly (readonly number[])[];

const target = (originId: string) => viewTarget({ sourceId: 's', alias: 'v', originId });

/** View n is `{"n":n,"refs":[…]}`, stored as text split at its references. */
function storedView(graph: Graph, originId: string): LoadedView | null {
  const edges = graph[Number(originId)];
  if (edges === undefined) return null;
  const references = edges.map<StoredReference>((edge, index) => ({
    target: target(String(edge)),
    viewId: null,
    path: `.refs[${index}]`,
  }));
  const texts = edges.map((_, index) => (index === 0 ? `{"n":${originId},"refs":[` : ','));
  texts.push(edges.length === 0 ? `{"n":${originId},"refs":[]}` : ']}');
  return { key: originId, alias: 'v', body: { texts: texts.map((text) => Buffer.from(text)), references } };
}

function render(
  graph: Graph,
  from: number,
  style: ReferenceStyle = plainReferences,
  depth: number | null = null,
) {
  const rendering = new Rendering('e', ({ originId }) => storedView(graph, originId), style, depth);
  const view = storedView(graph, String(from));
  assert.ok(view !== null);
  rendering.view(view, 'route');
  const { missing, cut } = rendering;
  return { json: JSON.parse(Buffer.concat(rendering.pieces).toString()), missing, cut };
}

const idOf = (view: number) => `gid://Environment/e/Source/s/Entity/${view}/View/v`;

/** How the naive renderer shows a reference, and where it continues. */
interface NaiveStyle {
  readonly style: ReferenceStyle;
  show(edge: number, view: unknown): unknown;
  readonly inside: string;
}

const naiveStyles: readonly NaiveStyle[] = [
  { style: plainReferences, show: (_edge, view) => view, inside: '' },
  {
    style: wrappedReferences,
    show: (edge, view) => ({ id: idOf(edge), view, type: 'ViewReference' }),
    inside: '.view',
  },
];

/** The naive implementation: whole values, recursion. */
function naive(
  graph: Graph,
  { show, inside }: NaiveStyle,
  depth: number | null,
  missing: object[],
  cut: object[],
) {
  const viewAt = (at: number, above: readonly number[], path: string): unknown => ({
    n: at,
    refs: (graph[at] ?? []).map((edge, index) => {
      const place = `${path}.refs[${index}]`;
      if (depth !== null && above.length >= depth) {
        cut.push({ path: place, viewId: idOf(edge) });
        return show(edge, null);
      }
      if (edge >= graph.length) {
        missing.push({ path: place, viewId: idOf(edge) });
        return show(edge, null);
      }
      const leadsBack = edge === at || above.includes(edge);
      return show(edge, leadsBack ? null : viewAt(edge, [...above, at], place + inside));
    }),
  });
  return viewAt(0, [], 'route');
}

test('render: random graphs of views equal those of a naive renderer, in each style and to each depth', () => {
  const graphs = fc
    .integer({ min: 1, max: 6 })
    .chain((size) =>
      fc.array(fc.array(fc.nat(size), { maxLength: 3 }), { minLength: size, maxLength: size }),
    );
  const depths = fc.option(fc.nat(4));
  fc.assert(
    fc.property(graphs, fc.constantFrom(...naiveStyles), depths, (graph, naiveStyle, depth) => {
      const [missing, cut]: [object[], object[]] = [[], []];
      const json = naive(graph, naiveStyle, depth, missing, cut);
      const expected = { json, missing, cut: depth === null ? null : cut };
      assert.deepEqual(render(graph, 0, naiveStyle.style, depth), expected);
    }),
    { numRuns: runs(500) },
  );
});

test('render: a graph with exponentially many paths stops at the limit of references', () => {
  const graph = Array.from({ length: 40 }, (_, at) => (at < 39 ? [at + 1, at + 1] : []));
  assert.throws(
    () => render(graph, 0),
    (error) =>
      error instanceof ProblemError &&
      error.problem.status === 422 &&
      /property `refs` of the schema `v`/.test(error.message),
  );
});

test('render: references cut by the depth do not count towards the limit of references', () => {
  const graph = [[...Array.from({ length: 9_999 }, () => 1)], [2, 2], []];
  const { cut } = render(graph, 0, plainReferences, 1);
  assert.equal(cut?.length, 2 * 9_999);
});

test('render: a chain of thousands of views is rendered', () => {
  const graph = Array.from({ length: 9000 }, (_, at) => (at < 8999 ? [at + 1] : []));
  const rendering = new Rendering(
    'e',
    ({ originId }) => storedView(graph, originId),
    wrappedReferences,
    null,
  );
  const view = storedView(graph, '0');
  assert.ok(view !== null);
  rendering.view(view, 'route');
  assert.equal(rendering.missing.length, 0);
});
