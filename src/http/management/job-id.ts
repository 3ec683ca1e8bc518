/** The ids by which clients of the management interface name jobs. */
const rebuildPattern = /^rebuild-([1-9]\d{0,14})$/;

/** Id of the rebuild for a configuration generation. */
export function rebuildJobId(generation: number): string {
  return `rebuild-${generation}`;
}

const dryRunPattern = /^dry-run-([0-9a-f]{32})$/;

/** Id of a dry run. */
export function dryRunJobId(token: string): string {
  return `dry-run-${token}`;
}

/** Token of a dry run's id; null for another text. */
export function dryRunTokenOf(id: string): string | null {
  return dryRunPattern.exec(id)?.[1] ?? null;
}

/** Generation of a rebuild's id; null for another text. */
export function generationOf(id: string): number | null {
  const digits = rebuildPattern.exec(id)?.[1];
  return digits === undefined ? null : Number(digits);
}
