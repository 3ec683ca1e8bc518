/** Like `Promise.all`, but waits for all of them before it throws the first error: none of them has an effect afterwards. */
export async function allSettled<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return await Promise.all(promises);
}
