import type { Entity } from '../api/answers.ts';
import { Day, Moment } from '../parts/format.tsx';
import { type Meaning, State } from '../parts/notices.tsx';

const meanings: Readonly<Record<Entity['state'], Meaning>> = {
  waiting: 'warn',
  published: 'good',
  over: 'quiet',
};

type Times = Pick<Entity, 'publishAt' | 'unpublishAt' | 'state'>;

/** Shows if an entity is published, and the next state; nothing for an entity without times. */
export function PublishState({ publishAt, unpublishAt, state }: Times) {
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

/** The same for a list: the state, and the time when it ends. */
export function PublishBadge({ publishAt, unpublishAt, state }: Times) {
  if (publishAt === null && unpublishAt === null) return null;
  const until = state === 'waiting' ? publishAt : state === 'published' ? unpublishAt : null;
  return (
    <span class="badge">
      <State means={meanings[state]}>{state}</State>
      {until !== null && (
        <small class="quiet">
          {' '}
          until <Day at={until} />
        </small>
      )}
    </span>
  );
}
