import { useEffect, useState } from 'preact/hooks';
import { titleOf } from '../../contract/view-title.ts';
import type { ViewExplained } from '../api/answers.ts';
import { request, withParameters } from '../api/request.ts';
import { type GraphData, graphOf } from './graph-data.ts';

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
