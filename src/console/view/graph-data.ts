/** The views around a view: what it shows and who shows it, two steps either way, few enough to be read. */
import type { ViewExplained } from '../api/answers.ts';

/** Nodes of one step on one side. */
const perColumn = 12;
/** Of the first step, for how many of each side the second is drawn. */
const expandedMax = 6;

export interface GraphNode {
  readonly id: string;
  /** −2 and −1: who shows it; 0: itself; 1 and 2: what it shows. */
  readonly column: number;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  /** A lookup finds the entity, so the view would change with it, but does not refer to it. */
  readonly isLookup: boolean;
}

export interface GraphData {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** By column, how many are not drawn; absent columns draw all that is known. */
  readonly hidden: ReadonlyMap<number, number>;
}

type Neighbours = Pick<ViewExplained, 'id' | 'shows' | 'shownBy' | 'lookedUpBy'>;

/** What the view itself tells. */
export function firstStep(view: Neighbours): GraphData {
  const graph = new Growing(view.id);
  graph.grow(view, 1);
  graph.grow(view, -1);
  return graph.data();
}

/** Ids one step away that are drawn. */
export function neighbours(view: Neighbours): string[] {
  return firstStep(view)
    .nodes.filter(({ column }) => column !== 0)
    .map(({ id }) => id);
}

/** What the view and its neighbours tell. @param of a neighbour as it is explained; null where that is not known */
export function grown(view: Neighbours, of: (id: string) => Neighbours | null): GraphData {
  const graph = new Growing(view.id);
  graph.grow(view, 1);
  graph.grow(view, -1);
  for (const side of [1, -1] as const) {
    for (const id of graph.column(side).slice(0, expandedMax)) {
      const neighbour = of(id);
      if (neighbour !== null) graph.grow(neighbour, side);
    }
  }
  return graph.data();
}

class Growing {
  readonly #columns = new Map<string, number>();
  readonly #edges = new Map<string, GraphEdge>();
  readonly #hidden = new Map<number, number>();

  constructor(center: string) {
    this.#columns.set(center, 0);
  }

  column(wanted: number): string[] {
    return [...this.#columns].filter(([, column]) => column === wanted).map(([id]) => id);
  }

  /** Adds what a view shows (side 1) or who shows it or looks it up (−1). */
  grow({ id, shows, shownBy, lookedUpBy }: Neighbours, side: 1 | -1): void {
    const column = (this.#columns.get(id) ?? 0) + side;
    if (side === 1) {
      for (const { viewId } of shows) this.#add(viewId, column, { from: id, to: viewId, isLookup: false });
      return;
    }
    for (const from of shownBy.views) this.#add(from, column, { from, to: id, isLookup: false });
    for (const from of lookedUpBy.views) this.#add(from, column, { from, to: id, isLookup: true });
    this.#hide(column, shownBy.total - shownBy.views.length);
  }

  #add(id: string, column: number, edge: GraphEdge): void {
    if (!this.#columns.has(id)) {
      if (this.column(column).length >= perColumn) {
        this.#hide(column, 1);
        return;
      }
      this.#columns.set(id, column);
    }
    const key = `${edge.from} ${edge.to}`;
    if (this.#edges.get(key)?.isLookup !== false) this.#edges.set(key, edge);
  }

  #hide(column: number, count: number): void {
    if (count > 0) this.#hidden.set(column, (this.#hidden.get(column) ?? 0) + count);
  }

  data(): GraphData {
    return {
      nodes: [...this.#columns].map(([id, column]) => ({ id, column })),
      edges: [...this.#edges.values()],
      hidden: this.#hidden,
    };
  }
}
