/** What `/management/v1` answers (docs/reference/management.md). */
import type { Change, Facet } from '../../client/types.ts';

export interface Tenant {
  readonly alias: string;
  readonly environments: readonly { readonly id: string; readonly alias: string }[];
  readonly sourceGroups: readonly SourceGroup[];
  readonly domains: readonly { readonly alias: string; readonly hostnames: readonly string[] }[];
  readonly schemas: readonly Schema[];
  readonly indexes: readonly { readonly alias: string; readonly items: number }[];
  readonly clients: readonly { readonly name: string; readonly environment: string }[];
}

export interface SourceGroup {
  readonly alias: string;
  readonly autoIndex: boolean;
  readonly sources: readonly {
    readonly id: string;
    readonly name: string;
    readonly environments: readonly string[];
  }[];
  readonly types: readonly { readonly type: string; readonly entities: number }[];
}

export interface Schema {
  readonly alias: string;
  readonly kind: 'full' | 'partial' | 'index';
  readonly language: 'json' | 'js' | 'ts';
  readonly triggers: Readonly<Record<string, readonly string[]>>;
  readonly views: number;
}

export interface Rates {
  readonly ingest: number;
  readonly delivery: number;
  readonly query: number;
}

export interface Status {
  readonly processes: readonly {
    readonly id: string;
    readonly role: 'web' | 'worker' | 'jobs';
    readonly host: string;
    readonly pid: number;
    readonly version: string | null;
    readonly partitions: readonly number[];
    readonly waitingFor: readonly string[];
    readonly requestsPerSecond?: number;
    readonly rates?: Rates;
  }[];
  readonly partitions: readonly {
    readonly partition: number;
    readonly owner: string | null;
    readonly backlog: number;
    readonly lagMs: number;
  }[];
  readonly rebuilds: readonly {
    readonly what: string;
    readonly done: number;
    readonly total: number;
    readonly etaSeconds: number | null;
  }[];
  readonly indexes: readonly {
    readonly index: string;
    readonly environment: string;
    readonly items: number;
  }[];
  readonly redis: { readonly usedBytes: number; readonly maxBytes: number | null };
  /** The oldest first. */
  readonly recent: { readonly everyMs: number; readonly rates: readonly Rates[] };
}

export interface Diagnostic {
  readonly kind: string;
  readonly schema?: string;
  readonly place?: string;
  readonly entityId?: string;
  readonly viewId?: string;
  readonly message: string;
  readonly count?: number;
}

export interface Entities {
  readonly entities: readonly {
    readonly originId: string;
    readonly type: string;
    readonly url: string | null;
    readonly updatedAt: string;
  }[];
  readonly next: string | null;
}

export interface Entity {
  readonly entity: {
    readonly originId: string;
    readonly id: string;
    readonly sourceGroup: string;
    readonly type: string;
    readonly url: string | null;
    readonly originParentId: string | null;
    readonly redirects: readonly string[];
    readonly properties: unknown;
  };
  readonly publishAt: string | null;
  readonly unpublishAt: string | null;
  readonly state: 'waiting' | 'published' | 'over';
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly version: string;
  readonly made: readonly {
    readonly environment: string;
    readonly views: readonly {
      readonly id: string;
      readonly alias: string;
      readonly urls: readonly string[];
      readonly handles: readonly string[];
    }[];
    readonly items: readonly { readonly index: string }[];
  }[];
}

export interface Schedule {
  readonly scheduled: readonly {
    readonly sourceGroup: string;
    readonly environment: string | null;
    readonly originId: string;
    readonly type: string;
    readonly at: string;
    readonly becomes: 'published' | 'over';
  }[];
  readonly next: string | null;
}

export interface Claim {
  readonly served: boolean;
  readonly beatenBy?: string | null;
}

export interface ViewExplained {
  readonly id: string;
  readonly alias: string;
  readonly environment: string;
  readonly entity: {
    readonly id: string;
    readonly originId: string;
    readonly type: string;
    readonly updatedAt: string;
  };
  readonly view: unknown;
  readonly size: number;
  readonly urls: readonly (Claim & { readonly url: string; readonly kind: 'page' | 'redirect' })[];
  readonly handles: readonly (Claim & { readonly handle: string })[];
  readonly lookups: readonly Lookup[];
  readonly shows: readonly {
    readonly viewId: string;
    readonly paths: readonly string[];
    readonly missing: boolean;
    /** When its entity is published, where it waits for that. */
    readonly scheduled?: { readonly at: string };
  }[];
  readonly shownBy: Ids;
  readonly lookedUpBy: Ids;
  readonly indexItems: readonly string[];
  /** The moment at which the view ends; absent: none. */
  readonly scheduled?: { readonly at: string; readonly becomes: 'published' | 'over' };
  readonly built: {
    readonly at: string;
    readonly because: { readonly kind: string; readonly entityId?: string; readonly version?: string } | null;
  };
  /** Why code makes nothing of the entity as it is now: the last view stays. */
  readonly failure?: { readonly message: string; readonly place?: string };
}

export interface Ids {
  readonly total: number;
  readonly views: readonly string[];
}

export interface Lookup {
  readonly place: string;
  readonly sourceGroup?: string;
  readonly condition?: unknown;
  readonly matched: number;
  readonly taken?: number;
  readonly cut: boolean;
}

export interface UrlExplained {
  readonly steps: readonly { readonly step: string; readonly result: string }[];
  readonly claims: readonly {
    readonly viewId: string;
    readonly url: string;
    readonly kind: 'page' | 'redirect';
    readonly since: string;
    readonly served: boolean;
    readonly because: string;
  }[];
  readonly answer: 200 | 301 | 404;
}

export interface Configuration {
  readonly digest: string;
  readonly appliedAt: string | null;
  readonly documents: Readonly<Record<string, string>>;
}

export interface Preview {
  readonly view: unknown;
  readonly urls: readonly string[];
  readonly handles: readonly string[];
  /** Of an index. */
  readonly item?: unknown;
  readonly lookups: readonly Lookup[];
  readonly missing: readonly { readonly path: string; readonly viewId: string }[];
  readonly diagnostics: readonly Diagnostic[];
  readonly console?: readonly string[];
  readonly milliseconds: number;
}

export interface QueryResult {
  readonly totalResults: number;
  readonly results: readonly Readonly<Record<string, unknown>>[];
  readonly facets: readonly Facet[];
  readonly nextPageToken: string | null;
}

export type { Change, Facet };

export interface Webhook {
  readonly alias: string;
  readonly environment: string;
  readonly url: string;
  readonly state: 'ok' | 'retrying' | 'refused' | 'disabled';
  readonly behind: number | null;
  readonly lastStatus: number | null;
  readonly lastAttemptAt: string | null;
  readonly nextAttemptAt: string | null;
  readonly offset: string | null;
}
