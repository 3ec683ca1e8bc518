import { viewParts } from '../api/ids.ts';
import { viewHref } from '../shell/addresses.ts';
import { useTitle } from './titles.ts';

/** A view by what people know of it: its title, else the originId of its entity, and its schema. */
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
