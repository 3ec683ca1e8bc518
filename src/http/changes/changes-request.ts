/** Reads what a request for changes asks for (docs/reference/http.md "Changes"). */
import { ProblemError, problems } from '../../contract/errors.ts';
import type { Feed } from '../../feed/feed.ts';
import type { Expand, Since } from '../../feed/live-feed.ts';
import type { Call } from '../call.ts';
import { parameterValues } from '../routes/route-parts.ts';
import { acceptHeader, acceptsEvents } from '../uws/events-answer.ts';
import { HeaderName } from '../uws/header-name.ts';

const lastEventIdHeader = new HeaderName('last-event-id');

export interface ChangesRequest {
  readonly way: 'once' | 'long-poll' | 'sse';
  readonly expand: Expand;
  readonly since: Since;
}

/** @throws ProblemError 422 for a wrong parameter, 410 for an offset that this environment did not give */
export function changesRequest(call: Call, feed: Feed): ChangesRequest {
  const valuesOf = parameterValues(call.query);
  const one = (name: string, allowed: string): string => {
    const values = valuesOf(name);
    if (values.length > 1) throw new ProblemError(problems.parameterInvalid(name, allowed));
    return values[0] ?? '';
  };
  const live = one('live', liveAllowed);
  if (!['', 'long-poll', 'sse'].includes(live)) {
    throw new ProblemError(problems.parameterInvalid('live', liveAllowed));
  }
  const expand = one('expand', expandAllowed);
  if (!['', 'shown'].includes(expand))
    throw new ProblemError(problems.parameterInvalid('expand', expandAllowed));
  const since = one('since', sinceAllowed);
  const asked = call.header(lastEventIdHeader) || since;
  const asksForEvents = live === 'sse' || (live === '' && acceptsEvents(call.header(acceptHeader)));
  return {
    way: asksForEvents ? 'sse' : live === 'long-poll' ? 'long-poll' : 'once',
    expand: expand === 'shown' ? 'shown' : 'nothing',
    since: sinceOf(asked, feed),
  };
}

const liveAllowed = 'must be long-poll or sse, and given only once';
const expandAllowed = 'must be shown, and given only once';
const sinceAllowed = 'must be an offset or now, and given only once';

function sinceOf(asked: string, feed: Feed): Since {
  if (asked === '') return 'beginning';
  if (asked === 'now') return 'now';
  const position = feed.positionOf(asked);
  if (position === null) throw new ProblemError(problems.offsetGone);
  return position;
}
