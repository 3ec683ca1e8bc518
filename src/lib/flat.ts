/** The same text, put together: until somebody reads it, text that grew is a tree of what it grew by. */
export function flat(text: string): string {
  text.charCodeAt(0);
  return text;
}
