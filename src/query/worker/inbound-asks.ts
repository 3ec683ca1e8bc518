/** What a front asks a worker, over whichever way it came. */
import type { InboundRequest } from '../../store/streams/messages.ts';
import {
  type Answers,
  type NeedsReader,
  packReply,
  type ScatterRequest,
  unpackRequest,
} from '../protocol/wire.ts';

export interface InboundAsks {
  readonly request: ScatterRequest;
  /** On the clock of `performance.now()`; after it nobody waits for the reply. */
  readonly deadlineMs: number;
  /** True once nobody can take the reply any more. */
  readonly isGone: boolean;
  /** @param moment from `packMoment` */
  reply(moment: string, answers: Answers): void;
}

/** Through the streams. */
export class StreamedAsks implements InboundAsks {
  readonly request: ScatterRequest;
  readonly isGone = false;

  constructor(
    private readonly inbound: InboundRequest,
    reader: NeedsReader,
  ) {
    this.request = unpackRequest(inbound.body, reader);
  }

  get deadlineMs(): number {
    return this.inbound.deadlineMs;
  }

  reply(moment: string, answers: Answers): void {
    this.inbound.reply(packReply(moment, answers));
  }
}
