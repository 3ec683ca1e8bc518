/**
 * Calls of schemas in JavaScript, and the replies of the sandbox. Both are plain JSON values, because they are sent between
 * processes. The reply depends only on the call: equal calls have equal replies.
 */
import type { Json } from '../../contract/json.ts';

/** The kind of a program: `full` and `index` have triggers, a `partial` is used by others. */
export type ProgramKind = 'full' | 'partial' | 'index';

/** The programs of one tenant, isolated from those of other tenants. */
export interface ProgramSet {
  /** Digest of the programs. */
  readonly id: string;
  /** The tenant. Programs of different owners never share a process. */
  readonly owner: string;
  /** Bodies of functions that return the schema's default export, by `programName`. */
  readonly programs: ReadonlyMap<string, string>;
}

export function programName(kind: ProgramKind, alias: string): string {
  return `${kind}/${alias}`;
}

/** A lookup requested by code. Its JSON text identifies it within a build. */
export interface LookupRequest {
  /** Null for all entities. */
  readonly filter: string | null;
  /** Only children of the entity with this originId; null for no restriction. */
  readonly childrenOf: string | null;
  readonly sourceGroup: string | null;
  readonly limit: number | null;
  readonly orderBy: { readonly propertyName: string; readonly direction: 'asc' | 'desc' } | null;
}

export interface CodeCall {
  readonly set: ProgramSet;
  /** `actions` runs only the actions of a full schema; the other tasks return its view or value. */
  readonly task: ProgramKind | 'actions';
  readonly alias: string;
  /** JSON text of the source entity (`codeEntityText`), or of the input of a partial. */
  readonly input: string;
  /** Results of known lookups, by their requests, both as JSON text. */
  readonly answers: ReadonlyMap<string, string>;
  /** Processor time of earlier calls of the same build, in ms. */
  readonly spentMs: number;
}

/** A placeholder in a result for a value that the sandbox does not have. */
export type Hole = { readonly path: string } & (
  | {
      readonly kind: 'reference';
      readonly alias: string;
      readonly originId: string;
      readonly sourceGroup: string | null;
    }
  /** References to the entities that a lookup finds; with `isFirst` only to the first, or null. */
  | {
      readonly kind: 'references';
      readonly alias: string;
      readonly lookup: LookupRequest;
      readonly isFirst: boolean;
    }
  /** `input` is JSON text. With `isEntity` it is a source entity, whose properties JSON schemas can access as `p`. */
  | { readonly kind: 'partial'; readonly alias: string; readonly input: string; readonly isEntity: boolean }
);

/** JSON text split at its holes: `texts[0] holes[0] texts[1] … texts[n]`. */
export interface CodeValue {
  readonly texts: readonly string[];
  readonly holes: readonly Hole[];
}

export interface CodeUrl {
  readonly url: string;
  /** Null if `redirects` was not called. */
  readonly redirects: readonly string[] | null;
}

/** A view to process again. */
export interface CodeAction {
  readonly alias: string;
  readonly sourceGroup: string | null;
  /** Null for none. */
  readonly originId: string | null;
}

export interface CodeDestination {
  readonly alias: string;
  readonly options: Json;
}

/** Why code failed, and where in its bundle. `failurePosition` maps that to the source. */
export interface CodeFailure {
  readonly message: string;
  /** Program in which it happened; null if unknown. */
  readonly program: string | null;
  /** Both from 1; 0 if unknown. */
  readonly line: number;
  readonly column: number;
}

/** Members of every reply. */
interface CodeFindings {
  /** Unknown aliases of partials, and partials that were nested too deeply. */
  readonly findings: readonly {
    readonly kind: 'partialUnknown' | 'limitReached';
    readonly message: string;
  }[];
  /** Output of `console`. */
  readonly log: readonly string[];
  /** Processor time of the call, in ms. */
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
    /** The code waits for lookups whose results the call did not have. */
    | { readonly kind: 'asks'; readonly lookups: readonly LookupRequest[] }
    | { readonly kind: 'failed'; readonly failure: CodeFailure }
  );
