/**
 * Changes that this front has received while answers are computed. An answer may be kept only if nothing that it read has
 * changed since its computation began: otherwise it could be older than a change that was received.
 */

/** Subjects that are remembered. Beyond them everything is forgotten, and counts as changed. */
export const subjectsRemembered = 20_000;

export class ReceivedChanges {
  /** Subject -> the number of its last change. */
  readonly #changedAt = new Map<string, number>();
  /** It is not known what the changes up to this number changed. */
  #knownSince = 0;
  #count = 0;
  #computing = 0;

  /** Number of changes received so far. */
  get count(): number {
    return this.#count;
  }

  /**
   * Notes that a computation begins; `end` must follow. @returns the number of changes received so far, for
   * `hasChangedSince`
   */
  begin(): number {
    this.#computing += 1;
    return this.#count;
  }

  /** Notes that a computation is over, whatever came of it. */
  end(): void {
    this.#computing -= 1;
    // No computation is left that could ask what changed before now.
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
   * Tells whether one of the subjects has changed, or may have, since a computation began.
   * @param beganAt from `begin`; the computation has not ended
   */
  hasChangedSince(beganAt: number, subjects: readonly string[]): boolean {
    if (this.#knownSince > beganAt) return true;
    return subjects.some((subject) => (this.#changedAt.get(subject) ?? 0) > beganAt);
  }

  #forget(): void {
    this.#changedAt.clear();
    this.#knownSince = this.#count;
  }
}
