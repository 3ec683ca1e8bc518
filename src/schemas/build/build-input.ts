import type { StoredEntity } from '../../contract/entity.ts';
import type { Json } from '../../contract/json.ts';
import { stringified } from '../../contract/large-json/stringify-in-parts.ts';
import { type Steps, Suspended } from '../../lib/cooperative-yield.ts';
import type { LookupQuery } from '../lookup-layout.ts';
import type { CodeCall, CodeReply } from './code-call.ts';

/** The input of one build. */
export interface BuildInput {
  readonly entity: StoredEntity;
  readonly environmentId: string;
  /** Source that a source group uses in this environment; null if it has none. */
  resolveSource(sourceGroup: string): string | null;
  /** Result of a lookup; undefined if it is not known yet. */
  lookup(query: LookupQuery): readonly StoredEntity[] | undefined;
  partial(alias: string): PartialSchema | undefined;
  /**
   * Reply of the sandbox to a call; undefined if it is not known yet.
   * @param key identifies the call within the build
   * @param call creates the call if it has to be made
   */
  code(key: string, call: () => CodeCall): CodeReply | undefined;
  /** JSON text of a list or an object that may be large; undefined if it is not known yet. */
  text(value: Json): string | undefined;
}

/** Opaque to other layers. */
export interface PartialSchema {
  readonly alias: string;
  readonly digest: string;
}

/**
 * A value that differs in each run, as code can return, is never known. After this many rounds its text is made immediately.
 */
const roundsMax = 10;

export class LongTexts {
  readonly #known = new Map<Json, string>();
  readonly #pending = new Map<Json, Steps<string>>();
  #rounds = 0;

  /** True if unknown texts were requested: the build must run again after `make`. */
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

  /** Makes the requested texts. */
  *make(): Steps<void> {
    for (const [value, steps] of this.#pending) this.#known.set(value, yield* steps);
    this.#pending.clear();
    this.#rounds += 1;
  }
}
