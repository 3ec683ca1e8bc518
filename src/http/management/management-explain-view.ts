/** `GET /management/v1/explain/view`: why a view is as it is (docs/reference/management.md "A view"). */

import { ProblemError, problems } from '../../contract/errors.ts';
import { parseViewId } from '../../contract/ids.ts';
import type { ExplainViewAnswer } from '../../contract/shapes-management.ts';
import { quote } from '../../lib/quote.ts';
import { explainView } from '../../trial/explain/explain-view.ts';
import { jsonAnswer } from '../answer.ts';
import type { Handler } from '../handler.ts';
import type { Services } from '../services.ts';
import { requiredText, throwNothing } from './asked.ts';
import { CostlyTurns } from './costly-turns.ts';

const viewIdRule = 'must be the id of a view: gid://Environment/…/Source/…/Entity/…/View/…';

export function explainViewById({ store, configuration }: Services): Handler {
  const turns = new CostlyTurns();
  return async (call) => {
    const id = requiredText(call, 'id');
    const view = parseViewId(id);
    if (view === null) throw new ProblemError(problems.parameterInvalid('id', viewIdRule));
    const { tenant } = call.manager;
    const environment =
      tenant.environments.find((one) => one.id === view.environmentId) ??
      throwNothing(`There is no environment ${quote(view.environmentId)}`);
    const end = await turns.turn(tenant.alias);
    try {
      const explained = await explainView(store, {
        configuration: configuration.current,
        tenant,
        environment,
        view,
      });
      return typeof explained === 'string'
        ? throwNothing(explained)
        : jsonAnswer<ExplainViewAnswer>(200, explained);
    } finally {
      end();
    }
  };
}
