import type { Ids, ViewExplained } from '../api/answers.ts';
import { Empty } from '../parts/empty.tsx';
import { Loading } from '../parts/loading.tsx';
import { counted } from '../parts/numbers.ts';
import { ViewLinks } from '../parts/view-links.tsx';

interface ReadersProps {
  readonly explained: ViewExplained;
  /** The other views of the same entity; null before they are known. */
  readonly siblings: readonly ViewExplained[] | null;
}

/** The views that show this view or another view of the same entity, and those whose lookups find that entity. */
export function Readers({ explained, siblings }: ReadersProps) {
  const shown = [explained, ...(siblings ?? [])].filter(({ shownBy }) => shownBy.total > 0);
  const { lookedUpBy } = explained;
  return (
    <section id="who">
      <h2>Who shows it</h2>
      {siblings === null && <Loading />}
      {siblings !== null && shown.length === 0 && <Empty>No other view refers to this view.</Empty>}
      {shown.map(({ id, alias, shownBy }) => (
        <ReaderList
          key={id}
          about={`${refer(shownBy.total)} to ${id === explained.id ? 'it' : `its ${alias}, another view of the same entity`}`}
          ids={shownBy}
        />
      ))}
      {lookedUpBy.total > 0 && (
        <ReaderList
          about={`${counted(lookedUpBy.total, 'view finds', 'views find')} its entity by a lookup`}
          ids={lookedUpBy}
        />
      )}
    </section>
  );
}

function refer(total: number): string {
  return counted(total, 'view refers', 'views refer');
}

interface ReaderListProps {
  readonly about: string;
  readonly ids: Ids;
}

const shownMax = 24;

function ReaderList({ about, ids }: ReaderListProps) {
  return (
    <div class="readers">
      <h3>{about}</h3>
      <ViewLinks ids={ids} shownMax={shownMax} />
    </div>
  );
}
