import { useEffect, useState } from 'preact/hooks';
import { titleOf } from '../../contract/view-title.ts';
import type { ViewExplained } from '../api/answers.ts';
import { request, withParameters } from '../api/request.ts';

export interface Surroundings {
  /** The other views of the same entity; null while loading. */
  readonly siblings: readonly ViewExplained[] | null;
  readonly graph: GraphData;
  /** True while more is loading. */
  readonly isLearning: boolean;
  /** Titles of the surrounding views, by id. */
  readonly titles: ReadonlyMap<string, string>;
}

/** Number of views beyond the first step whose titles are loaded. */
const moreTitlesMax = 24;

/**
 * Loads the surroundings of a view: first its siblings, then the views that it shows and that show it, then two steps away.
 * @param siblingIds the other views of its entity; null while loading
 */
export function useSurroundings(
  explained: ViewExplained,
  siblingIds: readonly string[] | null,
): Surroundings {
  const [surroundings, setSurroundings] = useState<Surroundings>(() => begin(explained));
  const wanted = siblingIds?.join('\n') ?? null;
  useEffect(() => {
    setSurroundings(begin(explained));
    if (siblingIds === null) return;
    const stop = new AbortController();
    const change = (part: Update) => {
      if (!stop.signal.aborted) setSurroundings((former) => ({ ...former, ...part(former) }));
    };
    void load(explained, siblingIds, new Explanations(stop.signal), change);
    return () => stop.abort();
  }, [explained, wanted]);
  return surroundings;
}

type Update = (former: Surroundings) => Partial<Surroundings>;

async function load(
  explained: ViewExplained,
  siblingIds: readonly string[],
  explanations: Explanations,
  change: (part: Update) => void,
): Promise<void> {
  const missing = new Set(missingOf(explained));
  const ask = async (ids: readonly string[]) => {
    const there = ids.filter((id) => !missing.has(id));
    const answers = there.map(async (id) => {
      const one = await explanations.of(id);
      if (one === null) return null;
      for (const gone of missingOf(one)) missing.add(gone);
      change(({ titles }) => ({ titles: withTitle(titles, one) }));
      return one;
    });
    return (await Promise.all(answers)).filter((one) => one !== null);
  };
  const siblings = await ask(siblingIds);
  change(() => ({ siblings }));
  const first = graphOf(explained)
    .nodes.map(({ id }) => id)
    .filter((id) => id !== explained.id);
  const known = new Map((await ask(first)).map((one) => [one.id, one]));
  const graph = graphOf(explained, known);
  change(() => ({ graph }));
  const near = new Set([...first, ...siblingIds, explained.id]);
  const named = [
    ...explained.shows.map(({ viewId }) => viewId),
    ...graph.nodes.map(({ id }) => id),
    ...[explained, ...siblings].flatMap(({ shownBy, lookedUpBy }) => [...shownBy.views, ...lookedUpBy.views]),
  ];
  const more = [...new Set(named)].filter((id) => !near.has(id));
  await ask(more.slice(0, moreTitlesMax));
  change(() => ({ isLearning: false }));
}

/** Missing views that it refers to, which have no explanation. */
function missingOf({ shows }: ViewExplained): string[] {
  return shows.filter(({ missing }) => missing).map(({ viewId }) => viewId);
}

function begin(explained: ViewExplained): Surroundings {
  return {
    siblings: null,
    isLearning: true,
    graph: graphOf(explained),
    titles: withTitle(new Map(), explained),
  };
}

function withTitle(titles: ReadonlyMap<string, string>, { id, view }: ViewExplained) {
  const title = titleOf(view);
  return title === null ? titles : new Map([...titles, [id, title]]);
}

/**
 * Maximum number of concurrent requests: a front explains one view at a time, and a user who opens another view should not wait
 * for these.
 */
const requestsAtOnce = 2;

/** Loads the explanations of the surrounding views, each once. */
class Explanations {
  readonly #asked = new Map<string, Promise<ViewExplained | null>>();
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  /** @param signal ends all requests */
  constructor(readonly signal: AbortSignal) {}

  /** Null if the view does not exist or is no longer needed. */
  of(id: string): Promise<ViewExplained | null> {
    const known = this.#asked.get(id);
    if (known !== undefined) return known;
    const asked = this.#ask(id).catch(() => null);
    this.#asked.set(id, asked);
    return asked;
  }

  async #ask(id: string): Promise<ViewExplained | null> {
    if (this.#busy >= requestsAtOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#busy += 1;
    try {
      if (this.signal.aborted) return null;
      return await request<ViewExplained>(withParameters('/explain/view', { id }), { signal: this.signal });
    } finally {
      this.#busy -= 1;
      this.#waiting.shift()?.();
    }
  }
}

/** Maximum number of nodes per column. */
const perColumn = 12;
/** Number of nodes per side whose neighbours are also drawn. */
const expandedMax = 6;

interface GraphNode {
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

/**
 * The views that a view shows and those that show it, up to two steps away and limited to a readable number.
 * @param known explanations of neighbours, by id; without them, the graph ends one step away
 */
function graphOf(view: Neighbours, known: ReadonlyMap<string, Neighbours> = new Map()): GraphData {
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
