const quotedCharactersMax = 60;

/** Quotes a text for a message: on one line, truncated if it is long. */
export function quote(text: string): string {
  return JSON.stringify(excerpt(text));
}

/** Truncates a text to a number of UTF-16 units, and then appends `…`. */
export function excerpt(text: string, charactersMax = quotedCharactersMax): string {
  return text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
}
