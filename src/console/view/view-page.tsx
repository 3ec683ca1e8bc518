import { titleOf } from '../../contract/view-title.ts';
import type { Entity, ViewExplained } from '../api/answers.ts';
import { withParameters } from '../api/request.ts';
import { useGet } from '../api/use-get.ts';
import { entitiesHref, pageHref, usePlace, viewParts } from '../parts/addresses.ts';
import { Copy } from '../parts/copy.tsx';
import { SearchButton } from '../parts/find-anywhere.tsx';
import { counted } from '../parts/format.tsx';
import { Json } from '../parts/json.tsx';
import { Empty, ErrorBox, Loading } from '../parts/notices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { entityHrefOf, groupOf, useTenant } from '../parts/tenant-context.ts';
import { TitlesContext, ViewLinks } from '../parts/view-links.tsx';
import { WhatIf } from '../what-if/what-if.tsx';
import { Facts, Reads } from './facts.tsx';
import { Graph } from './graph.tsx';
import { listedOnce, type Reason } from './reasons.ts';
import { useSurroundings } from './use-surroundings.ts';

/** Explains a view: what it is built from, which views show it, and the effects of changing its entity. */
export function ViewPage() {
  const id = usePlace().search.get('id') ?? '';
  return id === '' ? <ChooseView /> : <OneView key={id} id={id} />;
}

function OneView({ id }: { readonly id: string }) {
  const { tenant } = useTenant();
  const { data, error, reload } = useGet<ViewExplained>(withParameters('/explain/view', { id }));
  const parts = viewParts(id);
  const group = parts === null ? null : groupOf(tenant, parts.sourceId);
  const entityHref = entityHrefOf(tenant, id);
  const ownName = parts === null ? id : `${parts.alias} of ${parts.originId}`;
  const trail = [
    { name: 'Content', href: pageHref('content') },
    ...(group === null ? [] : [{ name: group, href: entitiesHref(group) }]),
    ...(parts !== null && entityHref !== null ? [{ name: parts.originId, href: entityHref }] : []),
  ];
  return (
    <>
      <PageHead title={(data === null ? null : titleOf(data.view)) ?? ownName} trail={trail}>
        <p class="id-line">
          <code>{id}</code> <Copy text={id} what="view id" />
        </p>
        {data !== null && (
          <nav class="jumps" aria-label="On this page">
            <a href="#why">What it is made of</a>
            <a href="#who">Who shows it</a>
            <a href="#what-if">What if it changes</a>
          </nav>
        )}
      </PageHead>
      {error !== null && <ErrorBox error={error} retry={reload} />}
      {data === null && error === null && <Loading />}
      {data !== null && <Explained explained={data} sourceGroup={group} />}
    </>
  );
}

interface ExplainedProps {
  readonly explained: ViewExplained;
  readonly sourceGroup: string | null;
}

function Explained({ explained, sourceGroup }: ExplainedProps) {
  const { environment, entity } = explained;
  const path = `/entities/${encodeURIComponent(sourceGroup ?? '')}/${encodeURIComponent(entity.originId)}`;
  const { data, error } = useGet<Entity>(sourceGroup === null ? null : withParameters(path, { environment }));
  const made = data?.made.find((one) => one.environment === environment) ?? null;
  const isKnown = data !== null || error !== null || sourceGroup === null;
  const views = made?.views.map(({ id }) => id) ?? [];
  const siblingIds = isKnown ? views.filter((id) => id !== explained.id) : null;
  const { siblings, isLearning, graph, titles } = useSurroundings(explained, siblingIds);
  return (
    <TitlesContext.Provider value={titles}>
      <Facts explained={explained} />
      <Graph graph={graph} center={explained.id} isLearning={isLearning} />
      <div class="columns">
        <section>
          <h2>The view</h2>
          <Json value={explained.view} label="The view as JSON" />
        </section>
        <div>
          <Reads explained={explained} />
          <Readers explained={explained} siblings={siblings} />
        </div>
      </div>
      {data !== null && made !== null && <WhatIf entity={data.entity} made={made} />}
    </TitlesContext.Provider>
  );
}

function ChooseView() {
  return (
    <>
      <PageHead
        title="View"
        about="Why a view is as it is: what it reads and shows, which views show it, why it was last built, and what happens if its entity changes."
      />
      <Empty>
        Search for the URL of a page, the originId of its entity, or words in it. Or browse the entities under{' '}
        <a href={pageHref('content')}>Content</a>.
      </Empty>
      <SearchButton />
    </>
  );
}

interface ReadersProps {
  readonly explained: ViewExplained;
  /** The other views of the same entity; null while loading. */
  readonly siblings: readonly ViewExplained[] | null;
}

/**
 * The views that show this view or another view of the same entity, and those whose lookups find that entity. Each is listed
 * once, under its first reason.
 */
function Readers({ explained, siblings }: ReadersProps) {
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
