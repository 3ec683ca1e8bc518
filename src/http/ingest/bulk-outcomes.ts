/** Sums up what became of the entities of a bulk request, in order. An originId is at most once in each list. */
import type { AcceptOutcome } from '../../store/entities/accept.ts';

export class BulkOutcomes {
  readonly #changed = new Set<string>();
  readonly #accepted = new Set<string>();
  readonly #errors = new Map<string, string[]>();

  /** Notes an entity that was not taken. */
  refused(name: string, texts: readonly string[]): void {
    const known = this.#errors.get(name);
    if (known === undefined) this.#errors.set(name, [...texts]);
    else known.push(...texts.filter((text) => !known.includes(text)));
  }

  /** Notes what became of an entity. @param conflictText what a type conflict says */
  outcome(originId: string, outcome: AcceptOutcome, conflictText: string): void {
    if (outcome === 'typeConflict') {
      this.refused(originId, [conflictText]);
      return;
    }
    this.#accepted.add(originId);
    if (outcome === 'changed') this.#changed.add(originId);
  }

  get changed(): string[] {
    return [...this.#changed];
  }

  /** Accepted and never changed by this request. */
  get unchanged(): string[] {
    return [...this.#accepted].filter((originId) => !this.#changed.has(originId));
  }

  /** JSON text: an originId may be `__proto__`, which a plain object would swallow. */
  get errorsJson(): string {
    const members = [...this.#errors].map(
      ([name, texts]) => `${JSON.stringify(name)}:${JSON.stringify(texts)}`,
    );
    return `{${members.join(',')}}`;
  }

  /** Some entities were sent and none of them was valid. */
  get allRefused(): boolean {
    return this.#errors.size > 0 && this.#accepted.size === 0;
  }
}
