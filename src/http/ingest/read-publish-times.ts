/** Reads `publishAt` and `unpublishAt` of an entity (docs/reference/http.md "Scheduled publishing"). Pure. */
import { getOwn, isJsonObject, type Json } from '../../contract/json.ts';
import { type PublishTimes, parseMoment } from '../../contract/publish-times.ts';
import { quote } from '../../lib/quote.ts';
import type { Mistake } from '../routing/validate.ts';

interface ReadTimes {
  /** Null: it is always published. */
  readonly times: PublishTimes | null;
  /** Those of texts alone: the shape of the entity says what else is wrong. */
  readonly mistakes: readonly Mistake[];
}

export const noTimes: ReadTimes = { times: null, mistakes: [] };

export function publishTimesOf(candidate: Json): ReadTimes {
  if (!isJsonObject(candidate)) return noTimes;
  const mistakes: Mistake[] = [];
  const momentOf = (field: string): number | null => {
    const text = getOwn(candidate, field);
    if (typeof text !== 'string') return null;
    const moment = parseMoment(text);
    if (moment === null) mistakes.push({ field, text: unreadable(field, text) });
    return moment;
  };
  const [publishAt, unpublishAt] = [momentOf('publishAt'), momentOf('unpublishAt')];
  if (publishAt === null && unpublishAt === null) return { times: null, mistakes };
  if (publishAt !== null && unpublishAt !== null && unpublishAt <= publishAt) {
    mistakes.push({ field: 'unpublishAt', text: '`unpublishAt` must be after `publishAt`' });
  }
  return { times: { publishAt, unpublishAt }, mistakes };
}

function unreadable(field: string, text: string): string {
  return `\`${field}\` must be a time with its offset, such as 2027-01-04T09:00:00+01:00, but is ${quote(text)}`;
}
