import type { Entity } from '../api/answers.ts';
import { type Meaning, State } from '../parts/state.tsx';
import { Moment } from '../parts/time.tsx';

const meanings: Readonly<Record<Entity['state'], Meaning>> = {
  waiting: 'warn',
  published: 'good',
  over: 'quiet',
};

/** Whether an entity is published, and what comes next; nothing for one without times. */
export function PublishState({
  publishAt,
  unpublishAt,
  state,
}: Pick<Entity, 'publishAt' | 'unpublishAt' | 'state'>) {
  if (publishAt === null && unpublishAt === null) return null;
  return (
    <div>
      <dt>Published</dt>
      <dd>
        <State means={meanings[state]}>{state}</State>
        {publishAt !== null && (
          <>
            {' '}
            from <Moment at={publishAt} />
          </>
        )}
        {unpublishAt !== null && (
          <>
            {' '}
            until <Moment at={unpublishAt} />
          </>
        )}
      </dd>
    </div>
  );
}
