/** `GET /management/v1/entities`: entities by group and type, in the order of their originIds (docs/reference/management.md). */
import { stampText } from '../../contract/entity.ts';
import { listOriginIds } from '../../store/entities/directory.ts';
import { readEntities } from '../../store/entities/entities.ts';
import { jsonAnswer } from '../answer.ts';
import type { Handler } from '../handler.ts';
import type { Services } from '../services.ts';
import { askedEnvironment, askedText, requiredText, sourceOf } from './asked.ts';
import { askedPage } from './paging.ts';

export function managementEntities({ store }: Services): Handler {
  return async (call) => {
    const { tenant } = call.manager;
    const source = sourceOf(tenant, requiredText(call, 'sourceGroup'), askedEnvironment(call));
    const { first, after } = askedPage(call);
    const place = { tenant: tenant.alias, sourceId: source.id };
    const originIds = await listOriginIds(store, place, {
      type: askedText(call, 'type'),
      after,
      limit: first + 1,
    });
    const page = originIds.slice(0, first);
    const refs = page.map((originId) => ({ sourceId: source.id, originId }));
    const entities = await readEntities(store, tenant.alias, refs);
    return jsonAnswer(200, {
      // One that was deleted a moment ago stands in the directory still.
      entities: entities.flatMap((entity) =>
        entity === null
          ? []
          : [
              {
                originId: entity.originId,
                type: entity.type,
                url: entity.url,
                updatedAt: stampText(entity.stamp),
              },
            ],
      ),
      next: originIds.length > first ? (page.at(-1) ?? null) : null,
    });
  };
}
