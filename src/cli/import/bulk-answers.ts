import { getOwn, isJsonObject, type Json, type JsonObject, jsonOf, textIn } from '../../contract/json.ts';
import { CommandStop } from '../terminal/command-line.ts';
import type { BulkAnswer } from './bulk-client.ts';
import { type EntityRecord, type Failure, refused } from './records.ts';

/** The result of a request whose entities were saved or rejected one by one. */
export interface BatchOutcome {
  readonly changed: number;
  readonly unchanged: number;
  readonly failures: readonly Failure[];
}

/** The whole request was rejected. Smaller requests can find the record that caused it. */
export interface Refusal {
  readonly refusal: string;
}

const bodyErrorStatuses = new Set([400, 413, 422, 500]);

/**
 * Reads a response of `POST /ingest/v2` (docs/reference/http.md "Saving many entities").
 * @throws CommandStop if every request would fail, for example because of a wrong key or address
 */
export function readBulkAnswer(answer: BulkAnswer, records: readonly EntityRecord[]): BatchOutcome | Refusal {
  const json = jsonOf(answer.body);
  const body = isJsonObject(json) ? json : {};
  if (answer.status === 401) throw new CommandStop('Unknown API key (401). Check --key.');
  if (answer.status === 403) {
    throw new CommandStop('This key cannot ingest (403). Set --key to the API key of a source.');
  }
  const errors = getOwn(body, 'errors');
  const isPerEntity = Object.hasOwn(body, 'changedSourceEntities');
  if (isPerEntity && isJsonObject(errors) && (answer.status === 200 || answer.status === 422)) {
    return readOutcome(body, errors, records);
  }
  if (bodyErrorStatuses.has(answer.status))
    return { refusal: textIn(body, 'message') ?? `The platform rejected it with status ${answer.status}` };
  throw new CommandStop(
    `The platform responded with ${answer.status}. Check that --url is the address of a Millrace platform.`,
  );
}

function readOutcome(body: JsonObject, errors: JsonObject, records: readonly EntityRecord[]): BatchOutcome {
  const changed = textSet(getOwn(body, 'changedSourceEntities'));
  const unchanged = textSet(getOwn(body, 'unchangedSourceEntities'));
  const failures: Failure[] = [];
  const counts = { changed: 0, unchanged: 0 };
  records.forEach((record, index) => {
    const texts =
      getOwn(errors, record.originId ?? `entities[${index}]`) ?? getOwn(errors, `entities[${index}]`);
    if (texts !== undefined) failures.push(refused(record, toTexts(texts)));
    else if (record.originId !== null && changed.has(record.originId)) counts.changed += 1;
    else if (record.originId !== null && unchanged.has(record.originId)) counts.unchanged += 1;
    else failures.push(refused(record, ['The response of the platform does not contain this entity']));
  });
  return { ...counts, failures };
}

function textSet(value: Json | undefined): ReadonlySet<Json> {
  return new Set(Array.isArray(value) ? value : []);
}

function toTexts(value: Json): string[] {
  return (Array.isArray(value) ? value : [value]).map((text) =>
    typeof text === 'string' ? text : JSON.stringify(text),
  );
}
