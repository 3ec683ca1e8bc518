import type { Entity, Ids, ViewExplained } from '../api/answers.ts';
import { withParameters } from '../api/request.ts';
import { madeOf, useGet, usePreview } from '../api/use-get.ts';
import { Difference } from '../parts/difference.tsx';
import { counted } from '../parts/format.tsx';
import { ErrorBox, Loading, State } from '../parts/notices.tsx';
import { useTenant } from '../parts/tenant-context.ts';
import { ViewLinks } from '../parts/view-links.tsx';

/** Maximum number of listed views that show a change. */
export const consequencesShownMax = 12;

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
export function MadeThen({ name, schema, viewId, entity, changed }: MadeThenProps) {
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
