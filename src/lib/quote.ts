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
