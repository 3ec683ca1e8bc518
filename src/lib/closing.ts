/** Closes a resource when the work with it has ended. @throws what the work throws */
export async function closing<R extends { close(): unknown }, T>(
  resource: R,
  work: (resource: R) => Promise<T>,
): Promise<T> {
  try {
    return await work(resource);
  } finally {
    await resource.close();
  }
}
