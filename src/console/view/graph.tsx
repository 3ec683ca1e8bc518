import { useLayoutEffect, useRef } from 'preact/hooks';
import { viewHref, viewParts } from '../parts/addresses.ts';
import { useTitle } from '../parts/view-links.tsx';
import type { GraphData, GraphEdge } from './use-surroundings.ts';

const nodeWidth = 168;
const nodeHeight = 40;
const gapX = 56;
const gapY = 10;
const padding = 12;
const headHeight = 24;
const heads: ReadonlyMap<number, string> = new Map([
  [-1, 'shown by'],
  [0, 'this view'],
  [1, 'shows'],
]);

interface GraphProps {
  readonly graph: GraphData;
  /** Id of the view in the middle. */
  readonly center: string;
  /** True while more views are loading. */
  readonly isLearning: boolean;
}

/** The view in the middle, views that show it on the left, and views that it shows on the right. */
export function Graph({ graph, center, isLearning }: GraphProps) {
  const box = useRef<HTMLElement>(null);
  const columns = new Set(graph.nodes.map(({ column }) => column)).size;
  // If the graph is wider than the screen, scroll to the view itself.
  useLayoutEffect(() => {
    const node = box.current?.querySelector('.center');
    if (box.current === null || !(node instanceof SVGGraphicsElement)) return;
    const { x, width } = node.getBBox();
    box.current.scrollLeft = x + width / 2 - box.current.clientWidth / 2;
  }, [columns, center]);
  return (
    <section id="why">
      <h2>
        Related views{' '}
        <small class="quiet">up to two steps away; a dashed line is a lookup that finds the entity</small>
      </h2>
      <section ref={box} class="graph-box" aria-label="Graph" aria-busy={isLearning} tabIndex={0}>
        <Drawing graph={graph} center={center} />
      </section>
    </section>
  );
}

interface Spot {
  readonly x: number;
  readonly y: number;
}

function Drawing({ graph, center }: Omit<GraphProps, 'isLearning'>) {
  const columns = [...new Set(graph.nodes.map(({ column }) => column))].sort((a, b) => a - b);
  const byColumn = columns.map((column) => graph.nodes.filter((node) => node.column === column));
  const rows = Math.max(...byColumn.map((nodes) => nodes.length));
  const hasMore = graph.hidden.size > 0;
  const height = headHeight + rows * (nodeHeight + gapY) - gapY + 2 * padding + (hasMore ? 24 : 0);
  const width = columns.length * (nodeWidth + gapX) - gapX + 2 * padding;
  const spots = new Map<string, Spot>();
  byColumn.forEach((nodes, at) => {
    const columnHeight = nodes.length * (nodeHeight + gapY) - gapY;
    const top = padding + headHeight + (rows * (nodeHeight + gapY) - gapY - columnHeight) / 2;
    nodes.forEach(({ id }, row) => {
      spots.set(id, { x: padding + at * (nodeWidth + gapX), y: top + row * (nodeHeight + gapY) });
    });
  });
  return (
    <svg class="graph" width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
      <title>Views around this view</title>
      {columns.map((column, at) => (
        <text key={column} class="head" x={padding + at * (nodeWidth + gapX)} y={padding + 12}>
          {heads.get(column) ?? ''}
        </text>
      ))}
      {graph.edges.map((edge) => (
        <path
          key={`${edge.from} ${edge.to}`}
          class={edge.isLookup ? 'edge lookup' : 'edge'}
          d={edgePath(edge, spots)}
        />
      ))}
      {graph.nodes.map(({ id }) => (
        <Node key={id} id={id} spot={spots.get(id) ?? { x: 0, y: 0 }} isCenter={id === center} />
      ))}
      {columns.map((column, at) => {
        const count = graph.hidden.get(column) ?? 0;
        if (count === 0) return null;
        return (
          <text key={column} class="more" x={padding + at * (nodeWidth + gapX)} y={height - padding}>
            {`and ${count} more`}
          </text>
        );
      })}
    </svg>
  );
}

function edgePath({ from, to }: GraphEdge, spots: ReadonlyMap<string, Spot>): string {
  const [a, b] = [spots.get(from), spots.get(to)];
  if (a === undefined || b === undefined) return '';
  const startX = a.x + nodeWidth;
  const [startY, endY] = [a.y + nodeHeight / 2, b.y + nodeHeight / 2];
  // An edge within a column or to an earlier one goes around the right side.
  if (b.x <= a.x) {
    const right = Math.max(startX, b.x + nodeWidth);
    return `M${startX} ${startY}C${right + gapX} ${startY} ${right + gapX} ${endY} ${b.x + nodeWidth} ${endY}`;
  }
  const middle = (startX + b.x) / 2;
  return `M${startX} ${startY}C${middle} ${startY} ${middle} ${endY} ${b.x} ${endY}`;
}

interface NodeProps {
  readonly id: string;
  readonly spot: Spot;
  readonly isCenter: boolean;
}

function Node({ id, spot, isCenter }: NodeProps) {
  const parts = viewParts(id);
  const title = useTitle(id);
  const [name, alias] = parts === null ? [id, ''] : [title ?? parts.originId, parts.alias];
  return (
    <a href={viewHref(id)} class={isCenter ? 'node center' : 'node'}>
      <title>{`${alias} ${name}`.trim()}</title>
      <rect x={spot.x} y={spot.y} width={nodeWidth} height={nodeHeight} rx={6} />
      <text x={spot.x + 10} y={spot.y + 17} class="node-alias">
        {shortened(alias)}
      </text>
      <text x={spot.x + 10} y={spot.y + 32}>
        {shortened(name)}
      </text>
    </a>
  );
}

/** Truncates a text to fit into a node. */
function shortened(text: string): string {
  const characters = [...text];
  return characters.length <= 22 ? text : `${characters.slice(0, 21).join('')}…`;
}
