/** Measures how many requests a second a front answers. */
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

  /** The rate since the last call. @param nowMs later than at the last call */
  perSecond(nowMs: number): number {
    const { requests } = this.metrics;
    const rate = (1000 * (requests - this.#requests)) / (nowMs - this.#atMs);
    this.#requests = requests;
    this.#atMs = nowMs;
    return rate;
  }
}
