/** `POST /ingest/v2` (docs/reference/http.md "Saving many entities"). */

import { problems } from '../../contract/errors.ts';
import type { AcceptOutcome } from '../../store/entities/accept.ts';
import { jsonAnswer } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import type { Services } from '../services.ts';
import { readBulk } from './bulk-reading.ts';
import type { EntityReading, ReadEntity } from './entity-reading.ts';
import { knownFields, saveRead } from './save.ts';
import { forcesType, typeConflictText, type Written, writeHandler } from './write-handler.ts';

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
      const texts = reading.errors.map(({ text }) => text);
      summary.refused(reading.originId ?? `entities[${index}]`, texts);
    }
  });
  const { outcomes, version } = await saveRead(services, call, 'bulk', read);
  const conflictText = typeConflictText(services);
  outcomes.forEach((outcome, index) => {
    summary.outcome(read[index]?.entity.originId ?? '', outcome, conflictText);
  });
  const status = summary.allRefused ? 422 : 200;
  const systemInformation = call.header('system-information');
  const answer = jsonAnswer(status, {
    status,
    changedSourceEntities: summary.changed,
    unchangedSourceEntities: summary.unchanged,
    errors: summary.errors,
    ingestMetadata: {
      ingestVersion: 'v2',
      ingestFormat: 'bulk',
      systemInfo: systemInformation === '' ? null : systemInformation,
      forceTypeOverwrite: forcesType(call),
    },
    code: status === 422 ? problems.entityInvalid({}).name : undefined,
  });
  return { answer, version: status === 200 ? version : null };
}

/** Summarizes the outcomes of a bulk request, in order. An originId is at most once in each list. */
export class BulkOutcomes {
  readonly #changed = new Set<string>();
  readonly #accepted = new Set<string>();
  readonly #errors = new Map<string, string[]>();

  /** Adds an entity that was refused. */
  refused(name: string, texts: readonly string[]): void {
    const known = this.#errors.get(name);
    if (known === undefined) this.#errors.set(name, [...texts]);
    else known.push(...texts.filter((text) => !known.includes(text)));
  }

  /** Adds the outcome of an entity. @param conflictText error message of a type conflict */
  outcome(originId: string, outcome: AcceptOutcome, conflictText: string): void {
    if (outcome === 'typeConflict') {
      this.refused(originId, [conflictText]);
      return;
    }
    this.#accepted.add(originId);
    if (outcome === 'changed') this.#changed.add(originId);
  }

  get changed(): string[] {
    return [...this.#changed];
  }

  /** Accepted and never changed by this request. */
  get unchanged(): string[] {
    return [...this.#accepted].filter((originId) => !this.#changed.has(originId));
  }

  get errors(): Record<string, readonly string[]> {
    return Object.fromEntries(this.#errors);
  }

  /** Entities were sent, and none of them was accepted. */
  get allRefused(): boolean {
    return this.#errors.size > 0 && this.#accepted.size === 0;
  }
}
