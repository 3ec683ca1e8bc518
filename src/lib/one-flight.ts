/**
 * Work that is shared: whoever asks while it is under way gets the result of that.
 * @param make what one asks for when nobody has asked yet; what it throws all get who wait
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
