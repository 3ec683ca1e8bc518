import type { Configuration, Entities } from '../api/answers.ts';
import { withParameters } from '../api/request.ts';
import { useGet } from '../api/use-get.ts';
import { go, pageHref, schemaHref, usePlace } from '../parts/addresses.ts';
import { useDraft } from '../parts/draft.ts';
import { PageHead } from '../parts/page-head.tsx';
import { groupsIn, useTenant } from '../parts/tenant-context.ts';
import { Apply } from './apply.tsx';
import type { SchemaDocument } from './documents.ts';
import { Outcome } from './outcome.tsx';
import { Editor } from './source-text.tsx';

interface WorkbenchProps {
  readonly schema: SchemaDocument;
  readonly text: string;
  readonly configuration: Configuration;
  readonly reload: () => void;
}

/** An editor for a schema, next to the result of the change for an entity. */
export function Workbench({ schema, text, configuration, reload }: WorkbenchProps) {
  const { tenant, environment } = useTenant();
  const { search } = usePlace();
  const { text: edited, isOutdated, edit } = useDraft(schema.path, text);
  const triggers = tenant.schemas.find(
    (one) => one.alias === schema.alias && one.kind === schema.kind,
  )?.triggers;
  const groups = Object.keys(triggers ?? {});
  const sourceGroup = search.get('sourceGroup') ?? groups[0] ?? tenant.sourceGroups[0]?.alias ?? '';
  const type = triggers?.[sourceGroup]?.[0] ?? null;
  const { data: examples } = useGet<Entities>(
    groupsIn(tenant, environment).includes(sourceGroup)
      ? withParameters('/entities', { sourceGroup, environment, type, first: 50, details: true })
      : null,
  );
  const entity = search.get('entity') ?? examples?.entities[0]?.originId ?? '';
  const choose = (originId: string) =>
    go(schemaHref(schema.path, { entity: originId, sourceGroup: search.get('sourceGroup') }), 'replace');
  return (
    <>
      <PageHead
        title={schema.alias}
        trail={[{ name: 'Schemas', href: pageHref('schemas') }]}
        about="Edit the source to see the result for the entity and how it differs from the current one. Nothing is stored until you apply it."
      />
      <div class="columns">
        <section>
          <h2>{schema.path}</h2>
          <Editor path={schema.path} text={edited} onText={edit} />
          <Apply
            schema={schema}
            configuration={configuration}
            text={text}
            edited={edited}
            isOutdated={isOutdated}
            reload={reload}
            onReset={() => edit(text)}
          />
        </section>
        <section>
          <h2>Result for an entity</h2>
          <div class="find">
            <label for="entity">Entity</label>
            <input
              id="entity"
              type="text"
              list="examples"
              value={entity}
              onChange={({ currentTarget }) => choose(currentTarget.value.trim())}
            />
            <datalist id="examples">
              {examples?.entities.map(({ originId, name }) => (
                <option key={originId} value={originId} label={name ?? undefined} />
              ))}
            </datalist>
          </div>
          <Outcome
            schema={schema}
            edited={edited === text ? null : edited}
            entity={entity}
            sourceGroup={sourceGroup}
          />
        </section>
      </div>
    </>
  );
}
