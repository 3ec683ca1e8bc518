/** What callers wait for: conditions that are looked at again whenever something was heard. */
export class Conditions {
  readonly #open = new Set<() => void>();

  /** @param isMet cheap, and may gather what it has seen. @returns false when the time was over before it was met */
  wait(isMet: () => boolean, timeoutMs: number): Promise<boolean> {
    if (isMet()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const finish = (met: boolean) => {
        clearTimeout(timer);
        this.#open.delete(look);
        resolve(met);
      };
      const look = () => {
        if (isMet()) finish(true);
      };
      const timer = setTimeout(() => finish(false), timeoutMs);
      this.#open.add(look);
    });
  }

  /** Looks at all conditions again, because something was heard. */
  check(): void {
    for (const look of [...this.#open]) look();
  }
}
