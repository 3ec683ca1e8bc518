import type { Ids } from '../api/answers.ts';
import { numberText } from './numbers.ts';
import { ViewLink } from './view-name.tsx';

interface ViewLinksProps {
  readonly ids: Ids;
  readonly shownMax: number;
}

/** The first of many views, and how many more there are. */
export function ViewLinks({ ids: { total, views }, shownMax }: ViewLinksProps) {
  const shown = views.slice(0, shownMax);
  if (total === 0) return null;
  return (
    <ul class="links">
      {shown.map((id) => (
        <li key={id}>
          <ViewLink id={id} />
        </li>
      ))}
      {total > shown.length && <li class="quiet">and {numberText(total - shown.length)} more</li>}
    </ul>
  );
}
