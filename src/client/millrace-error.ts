/** What the platform refused, or why it could not be reached. */
export class MillraceError extends Error {
  override readonly name = 'MillraceError';
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  /** Name of the error in the catalogue of errors; null when no answer of the platform came. */
  readonly code: string | null;
  /** Mistakes as the interface lists them: field -> text, originId -> texts, or a list of texts. Empty when there are none. */
  readonly errors: Readonly<Record<string, unknown>> | readonly unknown[];

  constructor(
    message: string,
    details: Pick<MillraceError, 'status' | 'code' | 'errors'>,
    options?: { readonly cause: unknown },
  ) {
    super(message, options);
    this.status = details.status;
    this.code = details.code;
    this.errors = details.errors;
  }
}

/** The error of an answer with any status but a good one. */
export function errorOf(status: number, body: unknown): MillraceError {
  const { message, error, code, errors } = recordOf(body);
  const text = typeof message === 'string' ? message : typeof error === 'string' ? error : `HTTP ${status}`;
  return new MillraceError(text, {
    status,
    code: typeof code === 'string' ? code : null,
    errors: Array.isArray(errors) ? errors : recordOf(errors),
  });
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
