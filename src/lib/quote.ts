const quotedCharactersMax = 60;

/** A text of a file as a message shows it: in quotes, on one line, cut when it is long. */
export function quote(text: string): string {
  return JSON.stringify(excerpt(text));
}

/** The beginning of a text, at most this many UTF-16 units; `…` follows where it is cut. */
export function excerpt(text: string, charactersMax = quotedCharactersMax): string {
  return text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
}
