/** JSON texts of large values that the expressions of one build put into texts. They are made between its runs, in steps. */
import type { Json } from '../../contract/json.ts';
import { stringified } from '../../contract/large-json/stringify-in-parts.ts';
import { type Steps, Suspended } from '../../lib/cooperative-yield.ts';

/** A value that is another one in each run, as code may give, is never known: then its text is made immediately. */
const roundsMax = 10;

export class LongTexts {
  readonly #known = new Map<Json, string>();
  readonly #pending = new Map<Json, Steps<string>>();
  #rounds = 0;

  /** True when texts were asked for that are not known: the build is to run again after `make`. */
  get isWanted(): boolean {
    return this.#pending.size > 0;
  }

  /** As `BuildInput.text`. */
  text(value: Json): string | undefined {
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const made = stringified(value);
    if (!(made instanceof Suspended)) return made;
    if (this.#rounds >= roundsMax) return JSON.stringify(value);
    this.#pending.set(value, made.steps);
    return undefined;
  }

  /** Makes what was asked for. */
  *make(): Steps<void> {
    for (const [value, steps] of this.#pending) this.#known.set(value, yield* steps);
    this.#pending.clear();
    this.#rounds += 1;
  }
}
