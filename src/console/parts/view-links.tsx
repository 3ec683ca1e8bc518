import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Ids } from '../api/answers.ts';
import { pageHref, viewHref, viewParts } from './addresses.ts';
import { numberText } from './format.tsx';

interface ViewLinksProps {
  readonly ids: Ids;
  readonly shownMax: number;
}

/** Links to the first views, and the number of further ones. */
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

/** The name of a view: its title or the originId of its entity, and its schema. */
export function ViewName({ id }: { readonly id: string }) {
  const title = useTitle(id);
  const parts = viewParts(id);
  if (parts === null) return <span>{id}</span>;
  return (
    <>
      <span class="view-title">{title ?? parts.originId}</span> <span class="alias">{parts.alias}</span>
    </>
  );
}

export function ViewLink({ id }: { readonly id: string }) {
  return (
    <a class="view-link" href={viewHref(id)} title={id}>
      <ViewName id={id} />
    </a>
  );
}

/** Links to indexes, separated by commas. */
export function IndexLinks({ names }: { readonly names: readonly string[] }) {
  return (
    <>
      {names.map((index, at) => (
        <span key={index}>
          {at > 0 && ', '}
          <a href={pageHref('query', { index })}>{index}</a>
        </span>
      ))}
    </>
  );
}

/** Titles by view id. */
export const TitlesContext = createContext<ReadonlyMap<string, string>>(new Map());

export function useTitle(id: string): string | null {
  return useContext(TitlesContext).get(id) ?? null;
}
