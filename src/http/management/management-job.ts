import type { JobAnswer } from '../../contract/shapes-management.ts';
import { dryRunJobs, dryRunState } from '../../jobs/dry-run/queue.ts';
import { type RebuildState, rebuildJobs, rebuildState } from '../../jobs/rebuild-job-queue.ts';
import { closing } from '../../lib/closing.ts';
import { quote } from '../../lib/message-text.ts';
import { isRebuildOf } from '../../store/configuration/published-configuration.ts';
import type { Store } from '../../store/store.ts';
import { jsonAnswer } from '../answer.ts';
import type { Handler } from '../call.ts';
import type { Services } from '../services.ts';
import { pathText, throwNothing } from './request-values.ts';

/** The ids of jobs in the management interface. */
const rebuildPattern = /^rebuild-([1-9]\d{0,14})$/;
const dryRunPattern = /^dry-run-([0-9a-f]{32})$/;

/** Id of the rebuild for a configuration generation. */
export function rebuildJobId(generation: number): string {
  return `rebuild-${generation}`;
}

/** Id of a dry run. */
export function dryRunJobId(token: string): string {
  return `dry-run-${token}`;
}

/** `GET /management/v1/jobs/{id}`: progress of a job (docs/reference/management.md "Jobs"). */
export function managementJob({ store }: Services): Handler {
  return async (call) => {
    const id = pathText(call, 0, 'id');
    const { alias } = call.manager.tenant;
    const token = dryRunPattern.exec(id)?.[1];
    if (token !== undefined) return jsonAnswer<JobAnswer>(200, await dryRunAnswer(store, alias, token, id));
    const generation = Number(rebuildPattern.exec(id)?.[1] ?? 0);
    if (generation === 0 || !(await isRebuildOf(store, alias, generation))) {
      throwNothing(`There is no job ${quote(id)}`);
    }
    return jsonAnswer<JobAnswer>(200, await rebuildAnswer(store, alias, generation));
  };
}

async function rebuildAnswer(store: Store, tenant: string, generation: number): Promise<JobAnswer> {
  const state = await closing(rebuildJobs(store), (queue) => rebuildState(store, queue, generation, tenant));
  return { state: stateName(state), done: state.scanned, total: state.total };
}

async function dryRunAnswer(store: Store, tenant: string, token: string, id: string): Promise<JobAnswer> {
  const found = await closing(dryRunJobs(store), (queue) => dryRunState(queue, token, tenant));
  const { state, done, total, diff, failure } = found ?? throwNothing(`There is no job ${quote(id)}`);
  const result = { ...(diff === null ? {} : { diff }), ...(failure === null ? {} : { failure }) };
  return { state: state === 'done' ? 'completed' : state, done, total, ...result };
}

function stateName({ isDone, isEnqueued, startedAtMs, failures }: RebuildState): JobAnswer['state'] {
  if (isDone) return 'completed';
  if (failures.some(({ isFinal }) => isFinal)) return 'failed';
  return isEnqueued && startedAtMs !== null ? 'active' : 'waiting';
}
