import type { Entity, Ids, ViewExplained } from '../api/answers.ts';
import { withParameters } from '../api/request.ts';
import { madeOf, useGet, usePreview } from '../api/use-get.ts';
import { go, usePlace } from '../parts/addresses.ts';
import { Difference } from '../parts/difference.tsx';
import { counted } from '../parts/format.tsx';
import { Empty, ErrorBox, Loading, State } from '../parts/notices.tsx';
import { useTenant } from '../parts/tenant-context.ts';
import { typedValue, valueText } from '../parts/typed-value.ts';
import { ViewLinks } from '../parts/view-links.tsx';

interface WhatIfProps {
  readonly entity: Entity['entity'];
  /** Its views and items in the selected environment. */
  readonly made: Entity['made'][number];
}

/**
 * Shows what would be delivered if a property of an entity had another value. The value is in the address; nothing is stored.
 */
export function WhatIf({ entity, made }: WhatIfProps) {
  const { search } = usePlace();
  const names = ['url', ...Object.keys(propertiesOf(entity))];
  const asked = search.get('if') ?? '';
  const name = names.includes(asked) ? asked : firstName(names);
  const now = valueText(valueIn(entity, name));
  const then = asked === name ? (search.get('be') ?? now) : now;
  const show = (change: Readonly<Record<string, string>>) => {
    const next = new URLSearchParams(search);
    next.delete('be');
    for (const [key, value] of Object.entries(change)) next.set(key, value);
    go(`${location.pathname}?${next}`, 'replace');
  };
  const changed = then === now ? null : withValue(entity, name, typedValue(then));
  const schemas = [
    ...made.views.map(({ id, alias }) => ({ name: alias, schema: alias, viewId: id })),
    ...made.items.map(({ index }) => ({ name: index, schema: `index:${index}`, viewId: null })),
  ];
  return (
    <section id="what-if" class="what-if">
      <h2>What if it changes</h2>
      <form class="supposed" onSubmit={(event) => event.preventDefault()}>
        <label for="if-name">If</label>
        <select id="if-name" value={name} onChange={({ currentTarget }) => show({ if: currentTarget.value })}>
          {names.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <label for="if-value">were</label>
        <input
          id="if-value"
          type="text"
          dir="auto"
          spellcheck={false}
          value={then}
          onInput={({ currentTarget }) => show({ if: name, be: currentTarget.value })}
        />
      </form>
      {changed === null ? (
        <Empty>
          Enter another value to see the resulting views and index items, and which views would show them.
          Nothing is stored.
        </Empty>
      ) : (
        <>
          <div class="consequences">
            {schemas.map((one) => (
              <MadeThen key={one.schema} {...one} entity={entity} changed={changed} />
            ))}
          </div>
          <RebuiltByLookup viewId={made.views[0]?.id ?? null} />
        </>
      )}
    </section>
  );
}

/** Views whose lookups find the entity, which are the same for all of its views. */
function RebuiltByLookup({ viewId }: { readonly viewId: string | null }) {
  const { data } = useGet<ViewExplained>(
    viewId === null ? null : withParameters('/explain/view', { id: viewId }),
  );
  if (data === null) return null;
  const { lookedUpBy } = data;
  if (lookedUpBy.total === 0)
    return <p class="quiet">No lookup finds this entity, so no other view is rebuilt.</p>;
  return (
    <div>
      <p class="quiet">
        {counted(lookedUpBy.total, 'view finds', 'views find')} it by a lookup and{' '}
        {lookedUpBy.total === 1 ? 'is' : 'are'} rebuilt
      </p>
      <ViewLinks ids={lookedUpBy} shownMax={consequencesShownMax} />
    </div>
  );
}

function propertiesOf({ properties }: Entity['entity']): Readonly<Record<string, unknown>> {
  return typeof properties === 'object' && properties !== null ? { ...properties } : {};
}

function firstName(names: readonly string[]): string {
  return ['name', 'title', names[1]].find((name) => name !== undefined && names.includes(name)) ?? 'url';
}

function valueIn(entity: Entity['entity'], name: string): unknown {
  return name === 'url' ? entity.url : propertiesOf(entity)[name];
}

function withValue(entity: Entity['entity'], name: string, value: unknown): object {
  const { originId, type, url, originParentId, redirects } = entity;
  const properties = propertiesOf(entity);
  const common = { originId, type, url, originParentId, redirects };
  if (name === 'url') return { ...common, url: value === null ? null : String(value), properties };
  return { ...common, properties: { ...properties, [name]: value } };
}

/** Maximum number of listed views that show a change. */
const consequencesShownMax = 12;

interface MadeThenProps {
  /** Name of the schema or the index. */
  readonly name: string;
  /** The `schema` of `POST /preview`. */
  readonly schema: string;
  /** Null for an index item. */
  readonly viewId: string | null;
  readonly entity: Entity['entity'];
  /** The changed entity, in the format of ingest. */
  readonly changed: object;
}

/** Compares the results of a schema for the changed and the current entity, with the views that would show the change. */
function MadeThen({ name, schema, viewId, entity, changed }: MadeThenProps) {
  const { environment } = useTenant();
  const { originId, sourceGroup } = entity;
  const common = { schema, originId, sourceGroup, environment };
  const now = usePreview(common);
  const then = usePreview({ ...common, entity: changed });
  const { data: explained } = useGet<ViewExplained>(
    viewId === null ? null : withParameters('/explain/view', { id: viewId }),
  );
  const error = now.error ?? then.error;
  const isSame =
    now.preview !== null &&
    then.preview !== null &&
    JSON.stringify(madeOf(now.preview)) === JSON.stringify(madeOf(then.preview));
  return (
    <article class="panel consequence">
      <h3>
        {viewId === null ? `Index ${name}` : `View ${name}`}{' '}
        {isSame && <State means="quiet">unchanged</State>}
      </h3>
      {error !== null && <ErrorBox error={error} retry={now.error === null ? then.retry : now.retry} />}
      {error === null && (now.preview === null || then.preview === null) && <Loading />}
      {now.preview !== null && then.preview !== null && !isSame && (
        <>
          <Difference
            before={madeOf(now.preview)}
            after={madeOf(then.preview)}
            label={`How ${name} would change`}
          />
          {explained !== null && <ShownBy ids={explained.shownBy} />}
        </>
      )}
    </article>
  );
}

/** The other views that would deliver the change. */
function ShownBy({ ids }: { readonly ids: Ids }) {
  if (ids.total === 0) return null;
  return (
    <div>
      <p class="quiet">{counted(ids.total, 'view shows', 'views show')} this change</p>
      <ViewLinks ids={ids} shownMax={consequencesShownMax} />
    </div>
  );
}
