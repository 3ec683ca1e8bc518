/** A fact of Redis' INFO text; null when there is none of that name. */
export function factOf(info: string, name: string): string | null {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? null;
}
