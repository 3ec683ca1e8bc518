/** Runs of a property test: `usual` by default, more with MILLRACE_RUNS, which multiplies. */
export function runs(usual: number): { numRuns: number } {
  return { numRuns: usual * Number(process.env.MILLRACE_RUNS ?? 1) };
}
