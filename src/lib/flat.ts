/** Flattens a string that V8 represents as a tree of concatenations. */
export function flat(text: string): string {
  text.charCodeAt(0);
  return text;
}
