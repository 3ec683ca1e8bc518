/** How often a property is tried; `MILLRACE_RUNS` multiplies it. */
export function runs(count: number): { readonly numRuns: number } {
  return { numRuns: count * Number(process.env.MILLRACE_RUNS ?? 1) };
}
