/**
 * Changes that this front receives while answers are being computed. An answer may be cached only if nothing that it read has
 * changed since its computation began: otherwise it could be older than a change that was received.
 */

/** Number of subjects to remember. Beyond it, all are forgotten, and everything counts as changed. */
export const subjectsRemembered = 20_000;

export class ReceivedChanges {
  /** Subject -> `count` at its last change. */
  readonly #changedAt = new Map<string, number>();
  /** The subjects of changes up to this number are not known. */
  #knownSince = 0;
  #count = 0;
  #computing = 0;

  /** Number of changes received so far. */
  get count(): number {
    return this.#count;
  }

  /**
   * Must be called when a computation begins; `end` must follow.
   * @returns the number of changes received so far, for `hasChangedSince`
   */
  begin(): number {
    this.#computing += 1;
    return this.#count;
  }

  /** Must be called when a computation has succeeded or failed. */
  end(): void {
    this.#computing -= 1;
    // No running computation can ask about earlier changes.
    if (this.#computing === 0 && this.#changedAt.size > 0) this.#changedAt.clear();
  }

  /** @param subjects those that have changed; null when anything may have */
  add(subjects: readonly string[] | null): void {
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
   * Whether one of the subjects has changed, or may have, since a computation began.
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
