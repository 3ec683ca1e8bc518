/** `POST /ingest/v2` (specification endpoint 1). */

import type { EncodedEntity } from '../../store/entities/entity-record.ts';
import { type Answer, jsonType } from '../answer.ts';
import type { Call } from '../call.ts';
import type { Handler } from '../handler.ts';
import type { Services } from '../services.ts';
import { acceptInBatches } from './accept-in-batches.ts';
import { typeConflictText, versionHeaders } from './answer.ts';
import { BulkOutcomes } from './bulk-outcomes.ts';
import { readBulk } from './bulk-reading.ts';
import type { EntityReading } from './entity-reading.ts';
import { decideFields, knownFields } from './field-decisions.ts';
import { forcesType } from './headers.ts';
import { changedShareOf, workOf } from './work.ts';

export function saveEntities(services: Services): Handler {
  return async (call) => {
    services.pace.refuseWhenBusy(call.source.tenant.alias);
    const readings = await readBulk(call.body, services.entityReader, knownFields(services, call.source));
    const outcomes = new BulkOutcomes();
    const entities: EncodedEntity[] = [];
    readings.forEach((reading, index) => {
      if (reading.kind === 'entity') entities.push(reading.entity);
      else if (reading.kind === 'invalid') {
        const texts = reading.mistakes.map(({ text }) => text);
        outcomes.refused(reading.originId ?? `entities[${index}]`, texts);
      }
    });
    return save(services, call, readings, entities, outcomes);
  };
}

async function save(
  services: Services,
  call: Call,
  readings: readonly EntityReading[],
  entities: readonly EncodedEntity[],
  outcomes: BulkOutcomes,
): Promise<Answer> {
  const { tenant, source } = call.source;
  const force = forcesType(call);
  const write = { kind: 'bulk', tenant: tenant.alias, work: workOf(entities) } as const;
  const accepted = await services.pace.accept(write, async () => {
    await decideFields(services, call.source, readings, force);
    const taken = await acceptInBatches(services.store, {
      tenant: tenant.alias,
      sourceId: source.id,
      force,
      entities,
    });
    return { ...taken, changedShare: changedShareOf(taken.outcomes) };
  });
  const version = services.progress.noteWritten(tenant.alias, accepted.version);
  const conflictText = typeConflictText(services);
  accepted.outcomes.forEach((outcome, index) => {
    outcomes.outcome(entities[index]?.originId ?? '', outcome, conflictText);
  });
  const status = outcomes.allRefused ? 422 : 200;
  return {
    status,
    body: bodyText(status, outcomes, call.prefixedHeader('system-information'), force),
    contentType: jsonType,
    headers: status === 200 ? versionHeaders(services, version) : [],
  };
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
