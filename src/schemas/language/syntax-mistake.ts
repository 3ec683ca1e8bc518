import type { Cursor } from '../../contract/config-cursor.ts';

/** A mistake in a text of the mapping language (expression, path, filter): the operator's, found when it is compiled. */
export class SyntaxMistake extends Error {
  override readonly name = 'SyntaxMistake';

  /** @param position zero-based character at which the text stopped making sense */
  constructor(
    message: string,
    readonly position: number,
    readonly advice: string,
  ) {
    super(message);
  }
}

/** Runs a parser of the mapping language over the text at a cursor. Its mistake becomes an issue there, and the result null. */
export function parseAt<T>(at: Cursor, parse: () => T): T | null {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof SyntaxMistake)) throw error;
    at.issue(error.message, error.advice);
    return null;
  }
}
