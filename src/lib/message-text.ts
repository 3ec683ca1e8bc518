/** Parts of messages for people. */

const quotedCharactersMax = 60;

/** Quotes a text for a message: on one line, truncated if it is long. */
export function quote(text: string): string {
  return JSON.stringify(excerpt(text));
}

/** Truncates a text to a number of UTF-16 units, but not within a character, and then appends `…`. */
export function excerpt(text: string, charactersMax = quotedCharactersMax): string {
  if (text.length <= charactersMax) return text;
  return `${text.slice(0, charactersMax).replace(/[\ud800-\udbff]$/, '')}…`;
}

/**
 * A whole number with commas: `2,000`. `toLocaleString` would load number formats, which takes 10 ms of processor time at the
 * start of every process.
 */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1 error`, `2,000 errors` */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${grouped(count)} ${count === 1 ? singular : plural}`;
}

/** The message of whatever was thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of an error of Node, such as `ENOENT`; null for anything else. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error ? String(error.code) : null;
}
