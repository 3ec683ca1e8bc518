/**
 * Shares work: a call while the work is under way gets its result.
 * @param make begins the work; all callers that wait get the error that it throws
 */
export function oneFlight<Result>(make: () => Promise<Result>): () => Promise<Result> {
  let flight: Promise<Result> | null = null;
  return () => {
    flight ??= make().finally(() => {
      flight = null;
    });
    return flight;
  };
}
