/** `GET /management/v1/jobs/{id}`: how far a job is (docs/reference/management.md "Jobs"). */
import { dryRunJobs, dryRunState } from '../../jobs/dry-run/queue.ts';
import { type RebuildState, rebuildJobs, rebuildState } from '../../jobs/rebuild-queue.ts';
import { quote } from '../../lib/quote.ts';
import { readGenerations } from '../../store/configuration/rebuild-generation.ts';
import type { Store } from '../../store/store.ts';
import { jsonAnswer } from '../answer.ts';
import type { Handler } from '../handler.ts';
import type { Services } from '../services.ts';
import { pathText, throwNothing } from './asked.ts';
import { dryRunTokenOf, generationOf } from './job-id.ts';

export function managementJob({ store }: Services): Handler {
  return async (call) => {
    const id = pathText(call, 0, 'id');
    const token = dryRunTokenOf(id);
    if (token !== null) return jsonAnswer(200, await dryRunAnswer(store, token, id));
    const generation = generationOf(id);
    const { active } = await readGenerations(store);
    if (generation === null || generation > active) throwNothing(`There is no job ${quote(id)}`);
    return jsonAnswer(200, await rebuildAnswer(store, generation));
  };
}

async function rebuildAnswer(store: Store, generation: number): Promise<object> {
  const queue = rebuildJobs(store);
  try {
    const state = await rebuildState(store, queue, generation);
    return { state: wordOf(state), done: state.scanned, total: state.total };
  } finally {
    await queue.close();
  }
}

async function dryRunAnswer(store: Store, token: string, id: string): Promise<object> {
  const queue = dryRunJobs(store);
  try {
    const found = (await dryRunState(queue, token)) ?? throwNothing(`There is no job ${quote(id)}`);
    const { state, done, total, diff, failure } = found;
    const told = { ...(diff === null ? {} : { diff }), ...(failure === null ? {} : { failure }) };
    return { state: state === 'done' ? 'completed' : state, done, total, ...told };
  } finally {
    await queue.close();
  }
}

function wordOf({ isDone, isEnqueued, startedAtMs, failures }: RebuildState): string {
  if (isDone) return 'completed';
  if (failures.some(({ isFinal }) => isFinal)) return 'failed';
  return isEnqueued && startedAtMs !== null ? 'active' : 'waiting';
}
