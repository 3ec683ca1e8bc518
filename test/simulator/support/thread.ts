/** A thread that runs schedules: several seeds one after another, until one fails. */
import { parentPort, workerData } from 'node:worker_threads';
import { mistakes } from './mistakes.ts';
import { ScheduleError, Simulation } from './simulation.ts';
import type { Task, Verdict } from './threads.ts';

const { seeds, schedules, mistake } = workerData as Task;
const planted = mistake === null ? null : mistakes[mistake];

async function run(): Promise<Verdict> {
  let done = 0;
  for (const seed of seeds) {
    const plan = { seed, partitions: 1 + (seed % 4), schedules };
    try {
      await Simulation.run(
        planted == null ? plan : { ...plan, faults: planted.faults, plant: planted.alter },
      );
      done += schedules;
    } catch (error) {
      if (!(error instanceof ScheduleError)) throw error;
      return { schedules: done + error.schedules, failure: { message: error.message, log: error.log } };
    }
  }
  return { schedules: done, failure: null };
}

parentPort?.postMessage(await run());
