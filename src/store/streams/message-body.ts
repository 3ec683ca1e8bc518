/** What processes ask and answer one another. */

/**
 * What a message carries: text, numbers, bytes and lists of them. Objects with keys that others choose travel as JSON text:
 * MessagePack's reader renames `__proto__`.
 */
export type MessageBody = null | boolean | number | string | Uint8Array | readonly MessageBody[];

export type Reply<Body = MessageBody> =
  | { readonly kind: 'answer'; readonly body: Body }
  /** `gone`: nobody reads there. `unavailable`: Redis did not take it. `late`: no reply before the deadline. */
  | { readonly kind: 'lost'; readonly reason: 'gone' | 'unavailable' | 'late' | 'closed' };
