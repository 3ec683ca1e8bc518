import type { ComponentChildren } from 'preact';

/** In the place of what is not there: why, and what to do. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}
