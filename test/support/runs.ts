/** Runs of a property test: the number given, multiplied by the environment variable MILLRACE_RUNS, and at least one. */
export function runs(count: number): number {
  return Math.ceil(count * Number(process.env.MILLRACE_RUNS ?? 1));
}
