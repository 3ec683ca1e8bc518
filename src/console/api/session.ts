/** The management key: kept for this tab alone, and sent to our own origin alone (`request.ts`). */

const keyName = 'millrace-management-key';

/** The key of this tab; null before one was given. */
export function keptKey(): string | null {
  return sessionStorage.getItem(keyName);
}

export function keepKey(key: string): void {
  sessionStorage.setItem(keyName, key);
}

export function forgetKey(): void {
  sessionStorage.removeItem(keyName);
}
