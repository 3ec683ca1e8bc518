/** `GET /ingest/entities`: the originIds of a source (docs/reference/http.md "Listing entities"). */
import { listOriginIds } from '../../store/entities/directory.ts';
import { jsonAnswer } from '../answer.ts';
import type { Handler } from '../call.ts';
import { requestedPage, requestedText, waitForRequestedVersion } from '../request-parameters.ts';
import type { Services } from '../services.ts';

export function listEntities(services: Services): Handler {
  return async (call) => {
    const { tenant, source } = call.source;
    const { first, after } = requestedPage(call);
    const type = requestedText(call, 'type');
    await waitForRequestedVersion(services, call, tenant.alias);
    const place = { tenant: tenant.alias, sourceId: source.id };
    const originIds = await listOriginIds(services.store, place, { type, after, limit: first + 1 });
    const page = originIds.slice(0, first);
    const next = originIds.length > first ? (page.at(-1) ?? null) : null;
    return jsonAnswer(200, { status: 200, originIds: page, next });
  };
}
