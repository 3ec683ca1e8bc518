/** Everything that a store delivers, read key by key: a naive way to count what a configuration changed. */
import { unpackServed } from '../../../src/store/claims/claim-records.ts';
import type { Store } from '../../../src/store/store.ts';

/** The content of each kind: name -> value, both as strings. */
export interface Delivered {
  readonly views: ReadonlyMap<string, string>;
  readonly items: ReadonlyMap<string, string>;
  readonly routes: ReadonlyMap<string, string>;
  readonly handles: ReadonlyMap<string, string>;
}

export async function delivered(store: Store): Promise<Delivered> {
  const routes = new Map<string, string>();
  const handles = new Map<string, string>();
  for (const [name, field, value] of await hashFields(store, 'claims')) {
    if (field.startsWith('r:')) continue;
    const served = field.startsWith('h:') ? handles : routes;
    for (const { display, kind, redirect, view } of unpackServed(field, value).claims) {
      served.set(`${name} ${display}`, JSON.stringify([kind, redirect, view]));
    }
  }
  const texts = async (what: string) =>
    new Map(
      (await hashFields(store, what)).map(([name, field, value]) => [
        `${name} ${field}`,
        value.toString('base64'),
      ]),
    );
  return { views: await texts('views'), items: await texts('items'), routes, handles };
}

/** Fields of all hashes of a kind, after the name of their hash without its partition. */
async function hashFields(store: Store, what: string): Promise<[string, string, Buffer][]> {
  const fields: [string, string, Buffer][] = [];
  for (const key of await store.client.keys(`*:${what}:*`)) {
    for (const [field, value] of Object.entries(await store.client.hgetallBuffer(key))) {
      fields.push([key.slice(key.indexOf('}')), field, value]);
    }
  }
  return fields;
}

interface Counts {
  added: number;
  changed: number;
  removed: number;
  same: number;
}

export function countsBetween(before: Delivered, after: Delivered): Record<keyof Delivered, Counts> {
  const between = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): Counts => ({
    added: [...b.keys()].filter((name) => !a.has(name)).length,
    changed: [...a].filter(([name, value]) => b.has(name) && b.get(name) !== value).length,
    removed: [...a.keys()].filter((name) => !b.has(name)).length,
    same: [...a].filter(([name, value]) => b.get(name) === value).length,
  });
  return {
    views: between(before.views, after.views),
    items: between(before.items, after.items),
    routes: between(before.routes, after.routes),
    handles: between(before.handles, after.handles),
  };
}
