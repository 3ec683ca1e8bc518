/** Counts references per property. With too many references, the message names the property to change. */
import type { StoredReference } from './stored-body.ts';

/** A property of a schema, without list indexes: `related`, `blocks.link`. */
export interface ReferenceProperty {
  readonly alias: string;
  readonly property: string;
}

export class ReferenceCounts {
  readonly #counts = new Map<string, ReferenceProperty & { count: number }>();

  /** Counts references of a view of the schema `alias`. */
  add(alias: string, references: readonly Pick<StoredReference, 'path'>[]): void {
    for (const { path } of references) {
      const property = propertyOf(path);
      const key = `${alias}\n${property}`;
      const known = this.#counts.get(key);
      if (known === undefined) this.#counts.set(key, { alias, property, count: 1 });
      else known.count += 1;
    }
  }

  /** The property with the most references; null if nothing was counted. */
  most(): ReferenceProperty | null {
    let most: (ReferenceProperty & { count: number }) | null = null;
    for (const one of this.#counts.values()) if (most === null || one.count > most.count) most = one;
    return most;
  }
}

/** @param path of a reference in its view: `.related[1]` */
function propertyOf(path: string): string {
  return path.replaceAll(/\[[0-9]+\]/g, '').replace(/^\./, '');
}
