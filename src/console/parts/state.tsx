import type { ComponentChildren } from 'preact';

export type Meaning = 'good' | 'warn' | 'bad' | 'quiet' | 'accent';

/** A word whose colour says what it means; the word says it too. */
export function State({
  means,
  children,
}: {
  readonly means: Meaning;
  readonly children: ComponentChildren;
}) {
  return <span class={`state ${means}`}>{children}</span>;
}
