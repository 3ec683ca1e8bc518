import { useState } from 'preact/hooks';
import { useTenant } from './tenant-context.ts';

export interface Draft {
  readonly text: string;
  /** True if the original has changed since the edit began. */
  readonly isOutdated: boolean;
  /** Replaces the text. The original as text ends the edit. */
  edit(text: string): void;
}

interface KeptDraft {
  readonly original: string;
  readonly text: string;
}

/**
 * An edit of a text. The tab keeps it while it differs from the original, so it survives a reload, other pages, and a key that
 * is no longer accepted.
 * @param name constant for a component
 */
export function useDraft(name: string, original: string): Draft {
  const key = `millrace-draft ${useTenant().tenant.alias} ${name}`;
  const [kept, setKept] = useState(() => keptDraft(key));
  const current = kept !== null && kept.text !== original ? kept : null;
  const edit = (text: string) => {
    const next = text === original ? null : { original: current?.original ?? original, text };
    keepDraft(key, next);
    setKept(next);
  };
  return {
    text: current?.text ?? original,
    isOutdated: current !== null && current.original !== original,
    edit,
  };
}

function keptDraft(key: string): KeptDraft | null {
  const text = sessionStorage.getItem(key);
  return text === null ? null : (JSON.parse(text) as KeptDraft);
}

function keepDraft(key: string, draft: KeptDraft | null): void {
  // A draft that does not fit must not stay there as a former version of itself.
  sessionStorage.removeItem(key);
  try {
    if (draft !== null) sessionStorage.setItem(key, JSON.stringify(draft));
  } catch {
    // The storage of the tab is full: only the page has the edit.
  }
}
