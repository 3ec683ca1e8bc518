import type { Status } from '../api/answers.ts';
import { Empty } from '../parts/empty.tsx';
import { numberText } from '../parts/numbers.ts';

export function Rebuilds({ rebuilds }: Pick<Status, 'rebuilds'>) {
  return (
    <section>
      <h2>Rebuilds</h2>
      {rebuilds.length === 0 ? (
        <Empty>No rebuild is running. After a schema change you see its progress here.</Empty>
      ) : (
        <ul class="rows">
          {rebuilds.map(({ what, done, total, etaSeconds }) => (
            <li key={what} class="rebuild">
              <span>{what}</span>
              <progress value={done} max={Math.max(1, total)} aria-label={what} />
              <span class="number">
                {numberText(done)} of {numberText(total)}
                {etaSeconds !== null && `, about ${numberText(etaSeconds)} s left`}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
