/** `GET /management/v1/diagnostics`: what is valid but probably a mistake (docs/reference/management.md "Diagnostics"). */

import { ProblemError, problems } from '../../contract/errors.ts';
import type { EntityRef } from '../../contract/ids.ts';
import type { DiagnosticsAnswer } from '../../contract/shapes-management.ts';
import { diagnosePage } from '../../verify/diagnostics/diagnose.ts';
import { shownDiagnostic } from '../../verify/diagnostics/located-diagnostic.ts';
import { jsonAnswer } from '../answer.ts';
import type { Handler } from '../call.ts';
import { requestedPage } from '../request-parameters.ts';
import type { Services } from '../services.ts';
import { CostlyTurns } from './request-values.ts';

export function managementDiagnostics({ store, configuration }: Services): Handler {
  const turns = new CostlyTurns();
  return async (call) => {
    const { first, after } = requestedPage(call);
    const place = after === null ? null : placeOf(after);
    const { tenant } = call.manager;
    const page = await turns.run(tenant.alias, () =>
      diagnosePage({ store, configuration: configuration.current, tenant, after: place, first }),
    );
    return jsonAnswer<DiagnosticsAnswer>(200, {
      diagnostics: page.diagnostics.map(shownDiagnostic),
      next: page.next === null ? null : textOf(page.next),
    });
  };
}

function textOf({ sourceId, originId }: EntityRef): string {
  return `${sourceId}/${originId}`;
}

/** @throws ProblemError `parameterInvalid` */
function placeOf(text: string): EntityRef {
  const slash = text.indexOf('/');
  if (slash < 1)
    throw new ProblemError(
      problems.parameterInvalid('after', 'must be the next of a previous page, or absent'),
    );
  return { sourceId: text.slice(0, slash), originId: text.slice(slash + 1) };
}
