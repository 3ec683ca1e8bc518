import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ProblemError } from '../../../src/contract/errors.ts';
import { type LoadedView, Rendering } from '../../../src/http/delivery/render.ts';
import type { StoredReference } from '../../../src/store/derived/stored-body.ts';
import { viewTarget } from '../../../src/store/derived/views.ts';
import { runs } from '../support/runs.ts';

/** A graph: the views that each view references; numbers beyond the graph name views that are missing. */
type Graph = readonly (readonly number[])[];

const target = (originId: string) => viewTarget({ sourceId: 's', alias: 'v', originId });

/** View n is `{"n":n,"refs":[…]}`, stored as text cut at its references. */
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
  return { key: originId, body: { texts: texts.map((text) => Buffer.from(text)), references } };
}

function render(graph: Graph, from: number) {
  const rendering = new Rendering('e', ({ originId }) => storedView(graph, originId));
  const view = storedView(graph, String(from));
  assert.ok(view !== null);
  rendering.view(view, 'route');
  return { json: JSON.parse(Buffer.concat(rendering.pieces).toString()), missing: rendering.missing };
}

/** The naive second way: whole values, recursion. */
function naive(graph: Graph, at: number, above: readonly number[], path: string, missing: object[]): unknown {
  const edges = graph[at] ?? [];
  return {
    n: at,
    refs: edges.map((edge, index) => {
      const place = `${path}.refs[${index}]`;
      if (edge >= graph.length) {
        missing.push({ path: place, viewId: `gid://Environment/e/Source/s/Entity/${edge}/View/v` });
        return null;
      }
      if (edge === at || above.includes(edge)) return null;
      return naive(graph, edge, [...above, at], place, missing);
    }),
  };
}

test('random graphs of views render as a naive renderer renders them', () => {
  const graphs = fc
    .integer({ min: 1, max: 6 })
    .chain((size) =>
      fc.array(fc.array(fc.nat(size), { maxLength: 3 }), { minLength: size, maxLength: size }),
    );
  fc.assert(
    fc.property(graphs, (graph) => {
      const missing: object[] = [];
      const expected = naive(graph, 0, [], 'route', missing);
      assert.deepEqual(render(graph, 0), { json: expected, missing });
    }),
    runs(500),
  );
});

test('a graph with exponentially many ways ends with the limit of references', () => {
  const graph = Array.from({ length: 40 }, (_, at) => (at < 39 ? [at + 1, at + 1] : []));
  assert.throws(
    () => render(graph, 0),
    (error) => error instanceof ProblemError && error.problem.status === 422,
  );
});

test('a chain of thousands of views is rendered', () => {
  const graph = Array.from({ length: 9000 }, (_, at) => (at < 8999 ? [at + 1] : []));
  const rendering = new Rendering('e', ({ originId }) => storedView(graph, originId));
  const view = storedView(graph, '0');
  assert.ok(view !== null);
  rendering.view(view, 'route');
  assert.equal(rendering.missing.length, 0);
});
