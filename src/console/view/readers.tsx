import type { ViewExplained } from '../api/answers.ts';
import { counted } from '../parts/format.tsx';
import { Empty, Loading } from '../parts/notices.tsx';
import { ViewLinks } from '../parts/view-links.tsx';
import { listedOnce, type Reason } from './reasons.ts';

interface ReadersProps {
  readonly explained: ViewExplained;
  /** The other views of the same entity; null while loading. */
  readonly siblings: readonly ViewExplained[] | null;
}

/**
 * The views that show this view or another view of the same entity, and those whose lookups find that entity. Each is listed
 * once, under its first reason.
 */
export function Readers({ explained, siblings }: ReadersProps) {
  const shown = [explained, ...(siblings ?? [])].filter(({ shownBy }) => shownBy.total > 0);
  const { lookedUpBy } = explained;
  const reasons: readonly Reason[] = [
    ...shown.map(({ id, alias, shownBy }) => ({
      about: `${counted(shownBy.total, 'view refers', 'views refer')} to ${
        id === explained.id ? 'it' : `its ${alias}, another view of the same entity`
      }`,
      ids: shownBy,
    })),
    {
      about: `${counted(lookedUpBy.total, 'view finds', 'views find')} its entity by a lookup`,
      ids: lookedUpBy,
    },
  ];
  return (
    <section id="who">
      <h2>Who shows it</h2>
      {siblings === null && <Loading />}
      {siblings !== null && shown.length === 0 && <Empty>No other view refers to this view.</Empty>}
      {siblings !== null &&
        listedOnce(reasons, shownMax).map(({ about, ids, above }) => (
          <div key={about} class="readers">
            <h3>
              {about}
              {above > 0 && (
                <span class="quiet">{`, ${above === ids.total ? 'listed' : `${above} listed`} above`}</span>
              )}
            </h3>
            <ViewLinks ids={{ total: ids.total - above, views: ids.views }} shownMax={shownMax} />
          </div>
        ))}
    </section>
  );
}

const shownMax = 24;
