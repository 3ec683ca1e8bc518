// biome-ignore-all lint/suspicious/noExplicitAny: what entities hold is for their authors to say.
/**
 * Types of schemas in JavaScript and TypeScript: `import type { FullSchema } from 'millrace/schema'`. There is nothing to
 * run behind them. docs/guide/writing-schemas.md shows each in use.
 */

/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/** What an external system pushed, as schemas see it. @typeParam Properties what is in `properties` */
export interface SourceEntity<Properties = Record<string, any>> {
  /** `gid://Source/<source id>` */
  readonly sourceId: string;
  /** `gid://Source/<source id>/Entity/<originId>` */
  readonly id: string;
  readonly type: string;
  /** Its id in the system that it comes from. */
  readonly originId: string;
  readonly originParentId: string | null;
  readonly url: string | null;
  /** When it last changed, as ISO 8601 text. */
  readonly updatedAt: string;
  /** URLs that lead to its URL. */
  readonly redirects: readonly string[];
  properties: Properties;
}

/** Makes a view of each entity that triggers it. @typeParam Properties of the entity */
export interface FullSchema<Properties = Record<string, any>> {
  /** Names the entities that the schema works on. It is run once, when the configuration is read. */
  triggers(context: TriggersContext): MaybePromise<void>;
  /** Says where the view is found. Absent: under its id alone. */
  routes?(entity: SourceEntity<Properties>, context: RoutesContext): unknown;
  /** Returns the view. Absent: the schema makes none, and its `actions` alone are done. */
  properties?(entity: SourceEntity<Properties>, context: PropertiesContext): MaybePromise<object>;
  /** Names views to process again, and webhooks. */
  actions?(entity: SourceEntity<Properties>, context: ActionsContext): unknown;
}

/** A piece of a mapping that other schemas use. @typeParam Input what it is given */
export interface PartialSchema<Input = any> {
  properties(input: Input, context: PropertiesContext): unknown;
}

/** Makes an item of an index of each entity that triggers it. @typeParam Properties of the entity */
export interface IndexSchema<Properties = Record<string, any>> {
  triggers(context: TriggersContext): MaybePromise<void>;
  index: {
    /** Field -> its type, such as `{ title: { type: 'text' } }`. */
    readonly fields: Readonly<Record<string, { readonly type: string; readonly [more: string]: unknown }>>;
    readonly metadata?: Readonly<Record<string, unknown>>;
    readonly [more: string]: unknown;
  };
  /** Returns the values of the fields; others are left out. A date may be a `Date`. */
  properties(entity: SourceEntity<Properties>, context: PropertiesContext): MaybePromise<object>;
}

export interface TriggersContext {
  /** Names entity types of a source group. Several calls add up. */
  triggers(sourceGroup: string, types: readonly string[]): void;
}

export interface RoutesContext {
  /**
   * Serves the view on a URL, which begins with `/` or `http(s)://`. With one URL and no `redirects` the entity's own
   * redirects lead to it; with several, or with `redirects`, only those that are named.
   */
  url(url?: string | null): { redirects(urls?: readonly string[] | null): void };
  /** Serves the view under a handle; null is none. */
  handle(handle?: string | number | null): void;
  lookup: Lookup;
}

export interface PropertiesContext {
  lookup: Lookup;
  /** Refers to views of a schema. They are inserted at delivery, so they are always current. */
  reference(alias: string): ReferenceBuilder;
  /** What a partial makes of an input; it may be async, and is inserted where it is in the result. */
  partial(alias: string, input: unknown): any;
}

/**
 * Finds entities: `await context.lookup("type eq 'article'")`. At most 1,000, ordered by originId unless `orderBy` says
 * another way. A change of what was found rebuilds the view.
 */
export type Lookup = <Properties = Record<string, any>>(
  /** Values are URI-decoded: write them with `encodeURIComponent`. */
  filter: string,
  options?: { readonly excludeProperties?: boolean },
) => LookupBuilder<Properties>;

export interface LookupBuilder<Properties = Record<string, any>>
  extends PromiseLike<SourceEntity<Properties>[]> {
  /** At most this many. */
  limit(count: number): this;
  orderBy(order: Order): this;
  /** Looks into another source group than the entity's own. */
  sourceGroup(alias: string): this;
  /** The same as to await the builder itself. */
  toPromise(): Promise<SourceEntity<Properties>[]>;
}

export interface Order {
  /** `properties.x.y`, or a field of the entity. */
  readonly propertyName: string;
  readonly direction?: 'asc' | 'desc';
}

type OriginId = string | number | null | undefined;

/** Says which views are meant; it is in the result. */
export interface ReferenceBuilder {
  /** One view; null for a null or empty id. */
  byOriginId(id: OriginId): this;
  /** A list, in the order given. */
  byOriginIds(ids: readonly OriginId[] | null | undefined): this;
  /** A list: the entities whose originParentId is this entity's. */
  children(filter?: string): this;
  /** A list: the entities that match. */
  filter(filter: string): this;
  /** One view: of the entity's parent. */
  parent(): this;
  /** One view: another one of this entity. */
  self(): this;
  limit(count: number): this;
  orderBy(order: Order): this;
  sourceGroup(alias: string): this;
  /** The first of the list alone, or null. */
  first(): this;
}

export interface ActionsContext {
  /** Processes views again when the entity changes. Never needed: what a view read is known. */
  reprocess(alias: string): ReprocessBuilder;
  /** Names a webhook that is notified of the view. */
  destination(alias: string): { options(options: object): void };
}

export interface ReprocessBuilder {
  byOriginId(id: OriginId): this;
  bySchema(): this;
  filter(filter: string): this;
  parent(): this;
  limit(count: number): this;
  orderBy(order: Order): this;
  sourceGroup(alias: string): this;
}
