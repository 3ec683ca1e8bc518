import type { Cursor } from '../../contract/config-cursor.ts';
import { quote } from '../../lib/quote.ts';
import { adviceForUnknown } from '../../lib/suggest.ts';

/** Things of one kind by the name that other places use for them. The first thing with a name keeps it. */
export class Names<T> extends Map<string, T> {
  readonly #kind: string;
  readonly #places = new Map<string, Cursor>();

  /** @param kind what the names name, as messages say it: `source group` */
  constructor(kind: string, entries: Iterable<readonly [string, T]> = []) {
    super(entries);
    this.#kind = kind;
  }

  add(name: string, thing: T, at: Cursor): void {
    const first = this.#places.get(name);
    if (first !== undefined) {
      at.issue(
        `${this.#kind} ${quote(name)} is given twice`,
        `${first.path} has it too: rename or remove one of them.`,
      );
      return;
    }
    this.#places.set(name, at);
    this.set(name, thing);
  }

  /** The thing of that name; null with an issue at `at` when there is none. */
  find(name: string, at: Cursor): T | null {
    const thing = this.get(name);
    if (thing !== undefined) return thing;
    at.issue(`unknown ${this.#kind} ${quote(name)}`, () => adviceForUnknown(name, this.keys()));
    return null;
  }
}
