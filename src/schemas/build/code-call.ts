/**
 * What a schema in JavaScript asks of the sandbox that runs it, and what comes back. Both are plain JSON values: they travel
 * between processes. A call is a function of what it carries; the same call always has the same reply.
 */
import type { Json } from '../../contract/json.ts';

/** The kind of a tenant's program: `full` and `index` have triggers, a `partial` is used by others. */
export type ProgramKind = 'full' | 'partial' | 'index';

/** The programs of one tenant: they share nothing with those of other tenants. */
export interface ProgramSet {
  /** Digest of the programs. */
  readonly id: string;
  /** The tenant. Programs of different owners never run in one process. */
  readonly owner: string;
  /** Bodies of functions that return the schema's default export, by `programName`. */
  readonly programs: ReadonlyMap<string, string>;
}

export function programName(kind: ProgramKind, alias: string): string {
  return `${kind}/${alias}`;
}

/** A lookup as code writes it; its JSON text names it within a build. */
export interface LookupRequest {
  /** Null: all entities. */
  readonly filter: string | null;
  /** Origin id whose children alone are meant; null: of all entities. */
  readonly childrenOf: string | null;
  readonly sourceGroup: string | null;
  readonly limit: number | null;
  readonly orderBy: { readonly propertyName: string; readonly direction: 'asc' | 'desc' } | null;
}

export interface CodeCall {
  readonly set: ProgramSet;
  /** `actions`: those of a full schema alone; what it gives otherwise is its view. */
  readonly task: ProgramKind | 'actions';
  readonly alias: string;
  /** JSON text of the source entity (`codeEntityText`); for a partial of what it is given. */
  readonly input: string;
  /** JSON texts of the results of lookups that the code is known to ask for, by the texts of their requests. */
  readonly answers: ReadonlyMap<string, string>;
  /** Milliseconds of processor time that earlier calls of the same build took. */
  readonly spentMs: number;
}

/** A place of a result that something is put into which the sandbox does not know. */
export type Hole = { readonly path: string } & (
  | {
      readonly kind: 'reference';
      readonly alias: string;
      readonly originId: string;
      readonly sourceGroup: string | null;
    }
  /** References to the entities that a lookup gives; `isFirst`: to the first alone, else null. */
  | {
      readonly kind: 'references';
      readonly alias: string;
      readonly lookup: LookupRequest;
      readonly isFirst: boolean;
    }
  /** `input`: JSON text. `isEntity`: it is a source entity, whose properties JSON schemas may call `p`. */
  | { readonly kind: 'partial'; readonly alias: string; readonly input: string; readonly isEntity: boolean }
);

/** JSON text cut at its holes: `texts[0] holes[0] texts[1] … texts[n]`. */
export interface CodeValue {
  readonly texts: readonly string[];
  readonly holes: readonly Hole[];
}

export interface CodeUrl {
  readonly url: string;
  /** Null: `redirects` was not called. */
  readonly redirects: readonly string[] | null;
}

/** A view to process again. */
export interface CodeAction {
  readonly alias: string;
  readonly sourceGroup: string | null;
  /** Null: none. */
  readonly originId: string | null;
}

export interface CodeDestination {
  readonly alias: string;
  readonly options: Json;
}

/** Where and why code failed. The place is one of its bundle: `located` finds the source's. */
export interface CodeFailure {
  readonly message: string;
  /** Program in which it happened; null: not known. */
  readonly program: string | null;
  /** Both from 1; 0: not known. */
  readonly line: number;
  readonly column: number;
}

/** Findings that any reply can include. */
interface CodeFindings {
  /** Aliases of partials that there are not, and partials that were nested too deep. */
  readonly findings: readonly {
    readonly kind: 'partialUnknown' | 'limitReached';
    readonly message: string;
  }[];
  /** Output of `console`. */
  readonly log: readonly string[];
  /** Milliseconds of processor time that the call took. */
  readonly cpuMs: number;
}

export type CodeReply = CodeFindings &
  (
    | {
        readonly kind: 'made';
        readonly value: CodeValue;
        readonly urls: readonly CodeUrl[];
        readonly handles: readonly string[];
        readonly actions: readonly CodeAction[];
        readonly destinations: readonly CodeDestination[];
      }
    /** The code waits for lookups that the call has no answers for. */
    | { readonly kind: 'asks'; readonly lookups: readonly LookupRequest[] }
    | { readonly kind: 'failed'; readonly failure: CodeFailure }
  );
