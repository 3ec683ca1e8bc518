import { usePlace } from '../shell/place.ts';
import { EntitiesPage } from './entities-page.tsx';
import { EntityPage } from './entity-page.tsx';
import { FoundPage } from './found-page.tsx';
import { GroupsPage } from './groups-page.tsx';

/** @param rest of the address: a source group, and an originId */
export function ContentPage({ rest }: { readonly rest: readonly string[] }) {
  const text = usePlace().search.get('find') ?? '';
  const [sourceGroup = '', ...originId] = rest;
  if (sourceGroup === '') return text === '' ? <GroupsPage /> : <FoundPage text={text} />;
  if (originId.length === 0) return <EntitiesPage sourceGroup={sourceGroup} />;
  return <EntityPage sourceGroup={sourceGroup} originId={originId.join('/')} />;
}
