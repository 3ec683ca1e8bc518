/** Processor time that this process has spent, in ms: unlike time itself it says how much was computed, however busy the machine. */
export function spentMs(): number {
  return process.cpuUsage().user / 1_000;
}
