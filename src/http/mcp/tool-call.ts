/** A call of a tool, in the form in which a handler takes a request. */
import type { Principal } from '../../config/configuration.ts';
import type { ProblemError } from '../../contract/errors.ts';
import { Call, type CallBody, type CallHead } from '../call.ts';

/** What a tool asks of an endpoint. */
export interface EndpointRequest {
  readonly query?: Readonly<Record<string, string>>;
  /** Path parameters, in their order. */
  readonly parameters?: readonly string[];
  readonly body?: unknown;
}

export function callOf(principal: Principal, request: EndpointRequest): Call {
  const { query = {}, parameters = [], body } = request;
  const head: CallHead = { getQuery: () => new URLSearchParams(query).toString(), getHeader: () => '' };
  return new Call(
    head,
    { names: [], prefixed: new Map() },
    parameters.map(encodeURIComponent),
    principal,
    body === undefined ? null : new GivenBody(Buffer.from(JSON.stringify(body))),
  );
}

/** A body that is there already. */
class GivenBody implements CallBody {
  readonly isPacked = false;

  constructor(private readonly given: Buffer<ArrayBuffer>) {}

  get announcedBytes(): number {
    return this.given.length;
  }

  release(): void {}

  async bytes(bytesMax: number, tooLarge: ProblemError): Promise<Buffer<ArrayBuffer>> {
    if (this.given.length > bytesMax) throw tooLarge;
    return this.given;
  }

  async read(consume: (piece: Uint8Array) => void, bytesMax: number, tooLarge: ProblemError): Promise<void> {
    consume(await this.bytes(bytesMax, tooLarge));
  }
}
