/** Approximate memory in bytes of one subject of one reader in the index. */
export const subjectBytes = 120;

/** Maps each subject to the readers that depend on it. */
export class SubjectIndex<Reader extends object> {
  /** Most subjects have one reader, which is stored without a Set: otherwise every change would create and drop Sets. */
  readonly #readers = new Map<string, Reader | Set<Reader>>();

  /** @param subjects keys from `subjectKey`, possibly with duplicates */
  add(subjects: readonly string[], reader: Reader): void {
    for (const subject of subjects) this.#add(subject, reader);
  }

  remove(subjects: readonly string[], reader: Reader): void {
    for (const subject of subjects) this.#remove(subject, reader);
  }

  /** A copy, so readers may be removed during iteration. */
  readersOf(subject: string): readonly Reader[] {
    const readers = this.#readers.get(subject);
    if (readers === undefined) return [];
    return readers instanceof Set ? [...readers] : [readers];
  }

  #add(subject: string, reader: Reader): void {
    const readers = this.#readers.get(subject);
    if (readers === undefined) this.#readers.set(subject, reader);
    else if (readers instanceof Set) readers.add(reader);
    else if (readers !== reader) this.#readers.set(subject, new Set([readers, reader]));
  }

  #remove(subject: string, reader: Reader): void {
    const readers = this.#readers.get(subject);
    if (readers instanceof Set) readers.delete(reader);
    if (readers === reader || (readers instanceof Set && readers.size === 0)) this.#readers.delete(subject);
  }
}
