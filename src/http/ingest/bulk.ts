/** `POST /ingest/v2` (docs/reference/http.md "Saving many entities"). */
import { jsonType } from '../answer.ts';
import type { Call } from '../call.ts';
import type { Handler } from '../handler.ts';
import type { Services } from '../services.ts';
import { BulkOutcomes } from './bulk-outcomes.ts';
import { readBulk } from './bulk-reading.ts';
import type { EntityReading, ReadEntity } from './entity-reading.ts';
import { knownFields } from './field-decisions.ts';
import { forcesType, typeConflictText } from './headers.ts';
import { saveRead } from './save.ts';
import { type Written, writeHandler } from './write-handler.ts';

export function saveEntities(services: Services): Handler {
  return writeHandler(services, async (call) => {
    const form = { kind: 'bulk', propertiesOptional: call.source.source.propertiesOptional } as const;
    const known = knownFields(services, call.source);
    const readings = await readBulk(call.body, form, services.entityReader, known);
    return save(services, call, readings);
  });
}

async function save(services: Services, call: Call, readings: readonly EntityReading[]): Promise<Written> {
  const summary = new BulkOutcomes();
  const read: ReadEntity[] = [];
  readings.forEach((reading, index) => {
    if (reading.kind === 'entity') read.push(reading);
    else if (reading.kind === 'invalid') {
      const texts = reading.mistakes.map(({ text }) => text);
      summary.refused(reading.originId ?? `entities[${index}]`, texts);
    }
  });
  const { outcomes, version } = await saveRead(services, call, 'bulk', read);
  const conflictText = typeConflictText(services);
  outcomes.forEach((outcome, index) => {
    summary.outcome(read[index]?.entity.originId ?? '', outcome, conflictText);
  });
  const status = summary.allRefused ? 422 : 200;
  const body = bodyText(status, summary, call.prefixedHeader('system-information'), forcesType(call));
  return { answer: { status, body, contentType: jsonType }, version: status === 200 ? version : null };
}

function bodyText(status: number, outcomes: BulkOutcomes, systemInformation: string, force: boolean): string {
  const lists = JSON.stringify({
    status,
    changedSourceEntities: outcomes.changed,
    unchangedSourceEntities: outcomes.unchanged,
  });
  const metadata = JSON.stringify({
    ingestVersion: 'v2',
    ingestFormat: 'bulk',
    systemInfo: systemInformation === '' ? null : systemInformation,
    forceTypeOverwrite: force,
  });
  return `${lists.slice(0, -1)},"errors":${outcomes.errorsJson},"ingestMetadata":${metadata}}`;
}
