/** A path into an entity: `['properties', 'tags']`, `['type']`. */
export type PropertyPath = readonly string[];

/** One property index that lookups read: the entities of `type` under each scalar value found at `path`. */
export interface LookupIndex {
  /** Entity type, or `*` for all. */
  readonly type: string;
  /**
   * `value`: one key for each scalar at `path`, arrays along the way and at the end spread;
   * `text`: one key for all entities that have a text at `path` (what a substring search must read);
   * `all`: one key for all entities of the type (path is empty).
   */
  readonly kind: 'value' | 'text' | 'all';
  readonly path: PropertyPath;
}

/** What one `$lookup` of a schema may read, known when the schema is compiled. */
export interface LookupPlan {
  /** Source group alias that it names, or null for the asking entity's own. */
  readonly sourceGroup: string | null;
  readonly indexes: readonly LookupIndex[];
  /** Paths that its condition and its order read. */
  readonly reads: readonly PropertyPath[];
}
