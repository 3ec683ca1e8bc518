/**
 * Changes that this front has heard of while answers are computed. An answer may be kept only if nothing that it read has
 * changed since its computation began: otherwise it could be older than a change that was heard of.
 */

/** Subjects remembered; nothing is known any more of what changed before them. */
export const subjectsRemembered = 20_000;

export class HeardChanges {
  /** Subject -> the number of its last change. */
  readonly #changedAt = new Map<string, number>();
  /** Of all changes up to this number it is not known what they changed. */
  #knownSince = 0;
  #count = 0;
  #computing = 0;

  /** How many changes were heard of: a moment, for `hasChangedSince`. */
  get count(): number {
    return this.#count;
  }

  /** A computation begins. Each one ends with `end`. @returns the moment */
  begin(): number {
    this.#computing += 1;
    return this.#count;
  }

  /** A computation is over, whatever came of it. */
  end(): void {
    this.#computing -= 1;
    // Nobody will ask any more what changed before now.
    if (this.#computing === 0 && this.#changedAt.size > 0) this.#changedAt.clear();
  }

  /** @param subjects that have changed; null: anything may have */
  note(subjects: readonly string[] | null): void {
    this.#count += 1;
    if (subjects === null) {
      this.#forget();
      return;
    }
    if (this.#computing === 0) return;
    for (const subject of subjects) this.#changedAt.set(subject, this.#count);
    if (this.#changedAt.size > subjectsRemembered) this.#forget();
  }

  /**
   * Whether one of the subjects has changed, or may have, since a moment.
   * @param moment from `begin`, of a computation that has not ended
   */
  hasChangedSince(moment: number, subjects: readonly string[]): boolean {
    if (this.#knownSince > moment) return true;
    return subjects.some((subject) => (this.#changedAt.get(subject) ?? 0) > moment);
  }

  #forget(): void {
    this.#changedAt.clear();
    this.#knownSince = this.#count;
  }
}
