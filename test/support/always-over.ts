import { pace } from '../../src/lib/pace.ts';

/** Does something while the time of every step is over. Other tests of the process find the clock as it was. */
export function alwaysOver<T>(act: () => T): T {
  const { clock } = pace;
  pace.clock = () => true;
  try {
    return act();
  } finally {
    pace.clock = clock;
  }
}
