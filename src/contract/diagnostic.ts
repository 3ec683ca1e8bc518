/**
 * A finding about data that is valid but probably not meant so; never a failure (docs/guide/operating.md "Diagnostics").
 */
export interface Diagnostic {
  readonly kind:
    | 'partialUnknown'
    | 'valueDoesNotFit'
    | 'limitReached'
    | 'lookupCut'
    | 'schemaFailed'
    | 'urlClash'
    | 'handleClash'
    | 'urlMissing'
    | 'schemaUnknown'
    | 'viewMissing'
    | 'typeUnused'
    | 'schemaUnused'
    | 'alwaysNull';
  /** Place in the schema, as a JSON path: `$.properties.author`; in one in JavaScript file, line and column. */
  readonly place: string;
  /** Findings with equal messages count as one, whatever entities they come from. */
  readonly message: string;
  /** An id that the message does not name, such as the id of a missing view. */
  readonly example?: string;
}

/** A mistake in a configuration file: where it is, what is wrong, what to do (docs/reference/configuration.md). */
export interface ConfigIssue {
  /** Path relative to CONFIG_DIR, with forward slashes. */
  readonly file: string;
  /** JSON path inside the file: `$.properties.title.value`; in a file that is not JSON line and column: `12:7`. */
  readonly path: string;
  readonly message: string;
  readonly advice: string;
}
