import type { ViewExplained } from '../api/answers.ts';
import { request, withParameters } from '../api/request.ts';

/** At once: a front explains one view at a time, and anyone who goes on to another view should not wait for these. */
const atOnce = 2;

/** Explanations of the views around the one that is shown. Each is asked for once. */
export class Explanations {
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
