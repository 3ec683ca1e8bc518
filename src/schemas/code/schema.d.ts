// biome-ignore-all lint/suspicious/noExplicitAny: what entities hold is for their authors to say.
/**
 * Types of schemas in JavaScript and TypeScript: `import type { FullSchema } from 'millrace/schema'`. The module has no
 * run-time code. docs/guide/writing-schemas.md has examples.
 */

/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/** An entity that an external system pushed. @typeParam Properties type of `properties` */
export interface SourceEntity<Properties = Record<string, any>> {
  /** `gid://Source/<source id>`. */
  readonly sourceId: string;
  /** `gid://Source/<source id>/Entity/<originId>` */
  readonly id: string;
  readonly type: string;
  /** Its id in the external system. */
  readonly originId: string;
  readonly originParentId: string | null;
  readonly url: string | null;
  /** When it last changed, in ISO 8601. */
  readonly updatedAt: string;
  /** URLs that redirect to its URL. */
  readonly redirects: readonly string[];
  properties: Properties;
}

/** Builds a view for each entity that triggers it. @typeParam Properties of the entity */
export interface FullSchema<Properties = Record<string, any>> {
  /** Defines the entities that trigger the schema. Called once, when the configuration is read. */
  triggers(context: TriggersContext): MaybePromise<void>;
  /** Defines the URLs and handles of the view. Without it, the view only has its id. */
  routes?(entity: SourceEntity<Properties>, context: RoutesContext): unknown;
  /** Returns the view. Without it, the schema builds no view and only runs its `actions`. */
  properties?(entity: SourceEntity<Properties>, context: PropertiesContext): MaybePromise<object>;
  /** Defines views to process again, and webhooks. */
  actions?(entity: SourceEntity<Properties>, context: ActionsContext): unknown;
}

/** A part of a mapping that other schemas use. @typeParam Input type of its input */
export interface PartialSchema<Input = any> {
  properties(input: Input, context: PropertiesContext): unknown;
}

/** Builds an index item for each entity that triggers it. @typeParam Properties of the entity */
export interface IndexSchema<Properties = Record<string, any>> {
  triggers(context: TriggersContext): MaybePromise<void>;
  index: {
    /** Field -> type, such as `{ title: { type: 'text' } }`. */
    readonly fields: Readonly<Record<string, { readonly type: string; readonly [more: string]: unknown }>>;
    readonly metadata?: Readonly<Record<string, unknown>>;
    readonly [more: string]: unknown;
  };
  /** Returns the values of the fields; other members are ignored. A date can be a `Date`. */
  properties(entity: SourceEntity<Properties>, context: PropertiesContext): MaybePromise<object>;
}

export interface TriggersContext {
  /** Adds entity types of a source group. Can be called several times. */
  triggers(sourceGroup: string, types: readonly string[]): void;
}

export interface RoutesContext {
  /**
   * Serves the view on a URL, which must begin with `/` or `http(s)://`. With a single URL and without `redirects`, the
   * redirects of the entity lead to it; otherwise only those given.
   */
  url(url?: string | null): { redirects(urls?: readonly string[] | null): void };
  /** Serves the view under a handle; null for none. */
  handle(handle?: string | number | null): void;
  lookup: Lookup;
}

export interface PropertiesContext {
  lookup: Lookup;
  /** References views of a schema. They are inserted at delivery, so they are always current. */
  reference(alias: string): ReferenceBuilder;
  /** The result of a partial for an input, which may be async. It is inserted where this value is in the result. */
  partial(alias: string, input: unknown): any;
}

/**
 * Finds entities: `await context.lookup("type eq 'article'")`. At most 1,000, ordered by originId unless `orderBy` is used. The
 * view is rebuilt when the result changes.
 */
export type Lookup = <Properties = Record<string, any>>(
  /** Values must be encoded with `encodeURIComponent`. */
  filter: string,
  options?: { readonly excludeProperties?: boolean },
) => LookupBuilder<Properties>;

export interface LookupBuilder<Properties = Record<string, any>>
  extends PromiseLike<SourceEntity<Properties>[]> {
  /** At most this many. */
  limit(count: number): this;
  orderBy(order: Order): this;
  /** Searches another source group than the entity's own. */
  sourceGroup(alias: string): this;
  /** Same as awaiting the builder itself. */
  toPromise(): Promise<SourceEntity<Properties>[]>;
}

export interface Order {
  /** `properties.x.y`, or a field of the entity. */
  readonly propertyName: string;
  readonly direction?: 'asc' | 'desc';
}

type OriginId = string | number | null | undefined;

/** Selects the referenced views. The builder itself is put in the result. */
export interface ReferenceBuilder {
  /** One view; null for a null or empty id. */
  byOriginId(id: OriginId): this;
  /** A list, in the given order. */
  byOriginIds(ids: readonly OriginId[] | null | undefined): this;
  /** A list: the entities whose originParentId is this entity's. */
  children(filter?: string): this;
  /** A list: the entities that match. */
  filter(filter: string): this;
  /** One view, of the entity's parent. */
  parent(): this;
  /** Another view of this entity. */
  self(): this;
  limit(count: number): this;
  orderBy(order: Order): this;
  sourceGroup(alias: string): this;
  /** Only the first of the list, or null. */
  first(): this;
}

export interface ActionsContext {
  /** Processes views again when the entity changes. Never necessary, because dependencies are tracked. */
  reprocess(alias: string): ReprocessBuilder;
  /** Adds a webhook that is notified of changes of the view. */
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
