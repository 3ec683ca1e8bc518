import { usePlace } from '../shell/place.ts';
import { EntitiesPage } from './entities-page.tsx';
import { EntityPage } from './entity-page.tsx';
import { FoundPage } from './found-page.tsx';
import { GroupsPage } from './groups-page.tsx';
import { SchedulePage } from './schedule-page.tsx';

/** @param rest of the address: a source group, and an originId */
export function ContentPage({ rest }: { readonly rest: readonly string[] }) {
  const { search } = usePlace();
  const text = search.get('find') ?? '';
  const [sourceGroup = '', ...originId] = rest;
  if (sourceGroup === '' && search.get('show') === 'schedule') return <SchedulePage />;
  if (sourceGroup === '') return text === '' ? <GroupsPage /> : <FoundPage text={text} />;
  if (originId.length === 0) return <EntitiesPage sourceGroup={sourceGroup} />;
  return <EntityPage sourceGroup={sourceGroup} originId={originId.join('/')} />;
}
