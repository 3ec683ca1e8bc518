/** A preview as people read it on a terminal. */
import { counted } from '../../config/documents/issue-text.ts';
import type { Preview } from '../../trial/preview/preview.ts';

const indent = 2;

export function previewText(made: Preview): string {
  const { item, view, urls, handles, lookups, missing, diagnostics, milliseconds } = made;
  const shown = item ?? view;
  return [
    JSON.stringify(shown, null, indent),
    '',
    ...listed('URLs', urls),
    ...listed('Handles', handles),
    ...listed(
      'Lookups',
      lookups.map(
        ({ place, matched, cut }) => `${place}: ${counted(matched, 'match', 'matches')}${cut ? ', cut' : ''}`,
      ),
    ),
    ...listed(
      'Missing views',
      missing.map(({ path, viewId }) => `${path}: ${viewId}`),
    ),
    ...listed(
      'Diagnostics',
      diagnostics.map(({ kind, place, message }) => `${place ?? ''}: ${message} (${kind})`),
    ),
    ...listed('Console', made.console ?? []),
    `Built in ${milliseconds} ms; nothing was stored.`,
  ].join('\n');
}

function listed(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
}
