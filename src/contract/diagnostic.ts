/**
 * A finding about data that is valid but probably unintended; never a failure (docs/guide/operating.md "Diagnostics").
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
  /** Location in the schema, as a JSON path: `$.properties.author`; in a schema in JavaScript, line and column. */
  readonly place: string;
  /** Findings with equal messages count as one, even from different entities. */
  readonly message: string;
  /** An id that is not in the message, such as the id of a missing view. */
  readonly example?: string;
}

/** An error in a configuration file: where it is, what is wrong, what to do (docs/reference/configuration.md). */
export interface ConfigIssue {
  /** Path relative to CONFIG_DIR, with forward slashes. */
  readonly file: string;
  /** JSON path inside the file: `$.properties.title.value`; in other files, line and column: `12:7`. */
  readonly path: string;
  readonly message: string;
  readonly advice: string;
}
