/** How many requests a second a front answers, from one look to the next. */
export class RequestRate {
  #requests: number;
  #atMs: number;

  constructor(
    private readonly metrics: { readonly requests: number },
    nowMs: number,
  ) {
    this.#requests = metrics.requests;
    this.#atMs = nowMs;
  }

  /** Since the last call. @param nowMs later than that of the last call */
  perSecond(nowMs: number): number {
    const { requests } = this.metrics;
    const rate = (1000 * (requests - this.#requests)) / (nowMs - this.#atMs);
    this.#requests = requests;
    this.#atMs = nowMs;
    return rate;
  }
}
