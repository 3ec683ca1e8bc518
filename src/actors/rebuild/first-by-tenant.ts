/** The lowest place of each tenant's entries. */

interface Places {
  readonly byName: Map<string, number>;
  /** Null: the one that had it is gone, and it has to be looked for. */
  first: number | null;
}

export class FirstByTenant {
  readonly #tenants = new Map<string, Places>();

  get all(): ReadonlyMap<string, number> {
    const all = new Map<string, number>();
    for (const [tenant, places] of this.#tenants) {
      places.first ??= lowest(places.byName.values());
      all.set(tenant, places.first);
    }
    return all;
  }

  add(tenant: string, name: string, place: number): void {
    this.remove(tenant, name);
    const places: Places = this.#tenants.get(tenant) ?? { byName: new Map(), first: place };
    this.#tenants.set(tenant, places);
    places.byName.set(name, place);
    if (places.first !== null) places.first = Math.min(places.first, place);
  }

  remove(tenant: string, name: string): void {
    const places = this.#tenants.get(tenant);
    const place = places?.byName.get(name);
    if (places === undefined || place === undefined) return;
    places.byName.delete(name);
    if (places.byName.size === 0) this.#tenants.delete(tenant);
    else if (places.first === place) places.first = null;
  }
}

function lowest(places: Iterable<number>): number {
  let first = Number.POSITIVE_INFINITY;
  for (const place of places) first = Math.min(first, place);
  return first;
}
