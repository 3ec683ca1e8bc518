import { useEffect, useState } from 'preact/hooks';
import { titleOf } from '../../contract/view-title.ts';
import type { ViewExplained } from '../api/answers.ts';
import { request, withParameters } from '../api/request.ts';
import { firstStep, type GraphData, grown, neighbours } from './graph-data.ts';

export interface Surroundings {
  /** The other views of the same entity; null before they are known. */
  readonly siblings: readonly ViewExplained[] | null;
  readonly graph: GraphData;
  /** Whether there is more to learn. */
  readonly isLearning: boolean;
  /** Of the views around, by id. */
  readonly titles: ReadonlyMap<string, string>;
}

/** Beyond the views one step away, so many are asked for their titles. */
const moreTitlesMax = 24;

/**
 * Learns what surrounds a view: its siblings first, then what it shows and who shows it, then two steps away.
 * @param siblingIds the other views of its entity; null before they are known
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
    const change = (part: Change) => {
      if (!stop.signal.aborted) setSurroundings((former) => ({ ...former, ...part(former) }));
    };
    void learn(explained, siblingIds, new Explanations(stop.signal), change);
    return () => stop.abort();
  }, [explained, wanted]);
  return surroundings;
}

type Change = (former: Surroundings) => Partial<Surroundings>;

async function learn(
  explained: ViewExplained,
  siblingIds: readonly string[],
  explanations: Explanations,
  change: (part: Change) => void,
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
  const first = neighbours(explained);
  const known = new Map((await ask(first)).map((one) => [one.id, one]));
  const graph = grown(explained, (id) => known.get(id) ?? null);
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

/** Views that it refers to and that are not there: nothing can explain them. */
function missingOf({ shows }: ViewExplained): string[] {
  return shows.filter(({ missing }) => missing).map(({ viewId }) => viewId);
}

function begin(explained: ViewExplained): Surroundings {
  return {
    siblings: null,
    isLearning: true,
    graph: firstStep(explained),
    titles: withTitle(new Map(), explained),
  };
}

function withTitle(titles: ReadonlyMap<string, string>, { id, view }: ViewExplained) {
  const title = titleOf(view);
  return title === null ? titles : new Map([...titles, [id, title]]);
}

/** At once: a front explains one view at a time, and anyone who goes on to another view should not wait for these. */
const atOnce = 2;

/** Explanations of the views around the one that is shown. Each is asked for once. */
class Explanations {
  readonly #asked = new Map<string, Promise<ViewExplained | null>>();
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  /** @param signal nothing is asked after it */
  constructor(readonly signal: AbortSignal) {}

  /** Null where a view is not there, or is not wanted any more. */
  of(id: string): Promise<ViewExplained | null> {
    const known = this.#asked.get(id);
    if (known !== undefined) return known;
    const asked = this.#ask(id).catch(() => null);
    this.#asked.set(id, asked);
    return asked;
  }

  async #ask(id: string): Promise<ViewExplained | null> {
    if (this.#busy >= atOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
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
