/** Processor time that this process has used, in ms. Unlike elapsed time it does not depend on other load of the machine. */
export function spentMs(): number {
  return process.cpuUsage().user / 1_000;
}
