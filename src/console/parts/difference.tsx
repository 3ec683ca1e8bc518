import { counted, numberText } from './format.tsx';
import { type DiffLine, lineDiff } from './line-diff.ts';
import { State } from './notices.tsx';

const aroundLines = 3;
const signs = { same: ' ', added: '+', removed: '−' } as const;

interface DifferenceProps {
  /** Undefined: there is no value yet. */
  readonly before: unknown;
  readonly after: unknown;
  readonly label: string;
}

/** The differences between two values as JSON, with a few lines of context. */
export function Difference({ before, after, label }: DifferenceProps) {
  const lines = lineDiff(jsonText(before), jsonText(after));
  const count = (wanted: DiffLine['kind']) => lines.filter(({ kind }) => kind === wanted).length;
  const [added, removed] = [count('added'), count('removed')];
  if (added + removed === 0) {
    return (
      <p role="status">
        <State means="quiet">no difference</State>
      </p>
    );
  }
  return (
    <>
      <p role="status" class="diff-count">
        <State means="good">+{numberText(added)}</State> <State means="bad">−{numberText(removed)}</State>{' '}
        <span class="quiet">lines</span>
      </p>
      <section class="diff" aria-label={label} tabIndex={0}>
        <pre>
          {shownLines(lines).map((shown, at) =>
            typeof shown === 'number' ? (
              <span key={at} class="diff-line skipped">{`  ${counted(shown, 'unchanged line')}\n`}</span>
            ) : (
              <span key={at} class={`diff-line ${shown.kind}`}>
                {`${signs[shown.kind]} ${shown.text}\n`}
              </span>
            ),
          )}
        </pre>
      </section>
    </>
  );
}

/** The lines near a difference; a number replaces so many skipped lines. */
function shownLines(lines: readonly DiffLine[]): (DiffLine | number)[] {
  const isNear = lines.map((_, at) =>
    lines.slice(Math.max(0, at - aroundLines), at + aroundLines + 1).some(({ kind }) => kind !== 'same'),
  );
  const shown: (DiffLine | number)[] = [];
  lines.forEach((line, at) => {
    const last = shown.at(-1);
    if (isNear[at] === true) shown.push(line);
    else if (typeof last === 'number') shown[shown.length - 1] = last + 1;
    else shown.push(1);
  });
  return shown;
}

function jsonText(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2);
}
