/** What the feed tells of a view (docs/reference/http.md "Changes"). */

/** URLs, handles and redirects under which a view is served, or was. */
export interface Served {
  readonly urls: readonly string[];
  readonly handles: readonly string[];
  /** URLs that lead to it. */
  readonly redirects: readonly string[];
}

export interface Change extends Served {
  /** View id. */
  readonly id: string;
  readonly alias: string;
  readonly sourceGroup: string;
  readonly originId: string;
  /** Of the entity. */
  readonly type: string;
  readonly action: 'set' | 'removed';
  /** What it was served under within the retention and is not any more. */
  readonly left: Served;
  readonly tags: readonly string[];
  /** Token for `X-Service-Min-Version`. */
  readonly version: string;
  /** ISO 8601. */
  readonly at: string;
}

/** Where else a view is delivered, because other views refer to it. */
export interface ShownOn {
  /** URLs, else handles, of views that refer to it, at any depth. */
  readonly shownOn: readonly string[];
  /** How many more there are; absent: none. */
  readonly shownOnMore?: number;
}
