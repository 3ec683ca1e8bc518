/**
 * The graph of views around a view: those that it shows and those that show it, up to two steps away and limited to a readable
 * number.
 */
import type { ViewExplained } from '../api/answers.ts';

/** Maximum number of nodes per column. */
const perColumn = 12;
/** Number of nodes per side whose neighbours are also drawn. */
const expandedMax = 6;

export interface GraphNode {
  readonly id: string;
  /** −2 and −1: views that show it; 0: the view itself; 1 and 2: views that it shows. */
  readonly column: number;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  /** True if a lookup of the view finds the entity, without a reference to its view. */
  readonly isLookup: boolean;
}

export interface GraphData {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** Number of nodes by column that are not drawn; absent: none. */
  readonly hidden: ReadonlyMap<number, number>;
}

type Neighbours = Pick<ViewExplained, 'id' | 'shows' | 'shownBy' | 'lookedUpBy'>;

/** @param known explanations of neighbours, by id; without them, the graph ends one step away */
export function graphOf(view: Neighbours, known: ReadonlyMap<string, Neighbours> = new Map()): GraphData {
  const graph = new Growing(view.id);
  graph.grow(view, 1);
  graph.grow(view, -1);
  for (const side of [1, -1] as const) {
    for (const id of graph.column(side).slice(0, expandedMax)) {
      const neighbour = known.get(id);
      if (neighbour !== undefined) graph.grow(neighbour, side);
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

  /** Adds the views that a view shows (side 1), or those that show it or look it up (−1). */
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
