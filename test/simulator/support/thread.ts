/** A thread that runs schedules: the seeds of each task one after another, until one fails. */
import { parentPort } from 'node:worker_threads';
import { mistakes } from './checks/mistakes.ts';
import { type LeafChanges, ScheduleError, Simulation } from './simulation.ts';
import type { Task, Verdict } from './threads.ts';

async function run({ seeds, schedules, mistake }: Task): Promise<Verdict> {
  const planted = mistake === null ? null : mistakes[mistake];
  let done = 0;
  let leaves: LeafChanges = { cut: 0, joined: 0 };
  for (const seed of seeds) {
    const plan = { seed, partitions: 1 + (seed % 4), schedules };
    try {
      const { leaves: changed } = await Simulation.run(
        planted == null ? plan : { ...plan, faults: planted.faults, plant: planted.alter },
      );
      done += schedules;
      leaves = { cut: leaves.cut + changed.cut, joined: leaves.joined + changed.joined };
    } catch (error) {
      if (!(error instanceof ScheduleError)) throw error;
      const failure = { message: error.message, log: error.log };
      return { schedules: done + error.schedules, leaves, failure };
    }
  }
  return { schedules: done, leaves, failure: null };
}

parentPort?.on('message', (task: Task) => {
  void run(task).then((verdict) => parentPort?.postMessage(verdict));
});
