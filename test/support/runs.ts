/** Runs of a property test: the number given, multiplied by the environment variable MILLRACE_RUNS. */
export function runs(count: number): number {
  return count * Number(process.env.MILLRACE_RUNS ?? 1);
}
