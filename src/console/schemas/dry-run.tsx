import { Difference } from '../parts/difference.tsx';
import { numberText } from '../parts/format.tsx';
import { Table } from '../parts/table.tsx';
import { ViewLink } from '../parts/view-links.tsx';

interface Counts {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly same: number;
}

interface Sample {
  readonly id: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

const kinds = ['views', 'routes', 'handles', 'items'] as const;
const kindNames = { views: 'views', routes: 'routes', handles: 'handles', items: 'index items' } as const;

/** The result of `PUT /configuration?dryRun=true`. */
export interface DryRun extends Readonly<Record<(typeof kinds)[number], Counts>> {
  readonly samples: Readonly<Record<'added' | 'changed' | 'removed', readonly Sample[]>>;
}

/** The number of changes of each kind, and sample views. */
export function DryRunTable({ diff }: { readonly diff: DryRun }) {
  const { added, changed, removed } = diff.samples;
  const samples = [...changed, ...added, ...removed];
  return (
    <>
      <Table
        label="What would change"
        heads={[
          { name: 'Kind' },
          { name: 'Added', isNumber: true },
          { name: 'Changed', isNumber: true },
          { name: 'Removed', isNumber: true },
          { name: 'Unchanged', isNumber: true },
        ]}
        rows={kinds.map((kind) => [
          kindNames[kind],
          numberText(diff[kind].added),
          numberText(diff[kind].changed),
          numberText(diff[kind].removed),
          numberText(diff[kind].same),
        ])}
      />
      {samples.map(({ id, before, after }) => (
        <details key={id} class="panel sample">
          <summary>
            <ViewLink id={id} />
          </summary>
          <Difference before={before} after={after} label={`How ${id} would change`} />
        </details>
      ))}
    </>
  );
}
