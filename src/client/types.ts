/** What a client sends and gets. `millrace types` makes the types of a tenant's own views and indexes. */

import type { Query } from './query.ts';

/** What a tenant delivers, as `millrace types` writes it. Without it everything is any JSON. */
export interface Delivered {
  /** Schema alias -> view. */
  readonly Views: object;
  readonly Handle: string;
  /** Index alias -> item. */
  readonly Indexes: object;
}

// biome-ignore lint/suspicious/noExplicitAny: a view is what its schema says, and nothing is known of it here.
type AnyJson = any;

export interface Untyped {
  readonly Views: Readonly<Record<string, AnyJson>>;
  readonly Handle: string;
  readonly Indexes: Readonly<Record<string, AnyJson>>;
}

type IsNever<T> = [T] extends [never] ? true : false;

/** Any JSON where no views are known, as in `ReturnType<typeof createClient>`. */
export type ViewOf<M extends Delivered> =
  IsNever<keyof M['Views']> extends true ? AnyJson : M['Views'][keyof M['Views']];
export type IndexOf<M extends Delivered> =
  IsNever<keyof M['Indexes']> extends true ? string : keyof M['Indexes'] & string;
export type ItemOf<M extends Delivered, I extends string> = I extends keyof M['Indexes']
  ? M['Indexes'][I]
  : AnyJson;
type AliasOf<M extends Delivered> =
  IsNever<keyof M['Views']> extends true ? string : keyof M['Views'] & string;

/** A query of an index that knows its fields and the schemas. */
export type QueryOf<M extends Delivered, I extends IndexOf<M>> = Query<ItemOf<M, I>, AliasOf<M>>;

/** A query of several: its index, and the name of its result. */
export type NamedQueryOf<M extends Delivered> = {
  readonly [I in IndexOf<M>]: QueryOf<M, I> & { readonly name: string; readonly index: I };
}[IndexOf<M>];

/** Name -> result. */
export type ResultsOf<M extends Delivered, Queries extends readonly NamedQueryOf<M>[]> = {
  readonly [Q in Queries[number] as Q['name']]: QueryResult<ItemOf<M, Q['index']>>;
};

/** An entity of an auto-indexed source group, as its type has it. */
export type GroupItem = Readonly<Record<string, AnyJson>>;

export interface MissingReference {
  readonly path: string;
  readonly viewId: string;
}

export interface DeliveredPage<V> {
  readonly status: 200 | 301 | 404;
  /** Where to go when the status is 301. */
  readonly redirect: string | null;
  readonly view: V | null;
  readonly missing: readonly MissingReference[];
  /** References deeper than `depth`; absent where no depth applies. */
  readonly cut?: readonly MissingReference[];
  /** Cache tags of the page, for purging by `changes()`; empty when the environment client has no `cacheTags`. */
  readonly tags: readonly string[];
  /** Changes with the response; with its quotes. */
  readonly etag: string | null;
}

/** Views by key; a key without a view is not there. */
export interface DeliveredViews<V> {
  readonly views: Record<string, V>;
  readonly missing: readonly MissingReference[];
  readonly cut?: readonly MissingReference[];
  readonly tags: readonly string[];
  /** Null when more than 1,000 keys took several requests. */
  readonly etag: string | null;
}

export interface Route {
  readonly url: string;
  /** Target of a redirect; null for a page. */
  readonly redirect: string | null;
  readonly updatedAt: string;
}

export interface QueryResult<Item> {
  readonly status: 0;
  readonly totalResults: number;
  readonly results: readonly (Item & BuiltIn)[];
  readonly facets: readonly Facet[];
  readonly nextPageToken: string | null;
}

export interface BuiltIn {
  readonly _originId: string;
  readonly _sourceGuid: string;
  readonly _updatedAt: string;
  readonly _score?: number;
  /** Metres, of a query sorted by distance; null without a place. */
  readonly _distance?: number | null;
  /** Field -> its text, or texts, with the found words marked. */
  readonly _highlights?: Readonly<Record<string, string | readonly string[]>>;
  readonly _views?: Readonly<Record<string, AnyJson>>;
  /** Ids of the views that exist. */
  readonly _viewIds?: readonly string[];
}

export interface Facet {
  readonly name: string;
  readonly field: string;
  readonly isValid: boolean;
  /** `from` and `to` of groups by ranges; null is open. */
  readonly groups: readonly {
    readonly value: AnyJson;
    readonly count: number;
    readonly from?: AnyJson;
    readonly to?: AnyJson;
  }[];
  readonly stats?: {
    readonly count: number;
    readonly min: number | string | null;
    readonly max: number | string | null;
    readonly mean: number | string | null;
    readonly sum?: number | string | null;
  };
}

export interface Entity {
  readonly type: string;
  readonly url?: string | null;
  readonly originParentId?: string | null;
  readonly redirects?: readonly string[];
  /** ISO 8601 time with an offset or `Z`, from which on it is published. */
  readonly publishAt?: string | null;
  /** ISO 8601 time with an offset or `Z`, from which on it is no longer published. */
  readonly unpublishAt?: string | null;
  /** Required, unless the source has `propertiesOptional`: then the default is `{}`. */
  readonly properties?: object;
}

export interface EntityWithId extends Entity {
  readonly originId: string;
}

export interface Saved {
  /** OriginIds. */
  readonly changed: readonly string[];
  readonly unchanged: readonly string[];
  /** OriginId -> what is wrong with the entity. */
  readonly errors: Readonly<Record<string, readonly string[]>>;
  /** For `minVersion`; null when nothing was accepted. */
  readonly version: string | null;
}

export interface Removed {
  /** OriginIds. */
  readonly removed: readonly string[];
  readonly notFound: readonly string[];
  readonly errors: Readonly<Record<string, readonly string[]>>;
  readonly version: string | null;
}

/** A change of a view, as the feed tells it. */
export interface Change {
  readonly id: string;
  readonly alias: string;
  readonly sourceGroup: string;
  readonly originId: string;
  readonly type: string;
  readonly action: 'set' | 'removed';
  readonly urls: readonly string[];
  readonly handles: readonly string[];
  readonly redirects: readonly string[];
  readonly left: {
    readonly urls: readonly string[];
    readonly handles: readonly string[];
    readonly redirects: readonly string[];
  };
  readonly tags: readonly string[];
  readonly version: string;
  readonly at: string;
  /** With `expand`: URLs or handles where the view is delivered because other views refer to it. */
  readonly shownOn?: readonly string[];
  /** How many more places there are; absent: none. */
  readonly shownOnMore?: number;
  /** For `since`: goes on after this change. With `long-poll` it can repeat changes before it. */
  readonly offset: string;
}
