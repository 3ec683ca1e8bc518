/**
 * What is said over a link. A frame of requests begins with the commits that all of them need, a frame of replies with
 * the moment that all of them are of; see `wire.ts` for both.
 */

import { packBriefly, unpack } from '../../store/codec/pack.ts';
import type { MessageBody } from '../../store/streams/message-body.ts';
import type { SentText } from './ask-texts.ts';
import type { FrameBuffer, FrameCursor } from './frame-buffer.ts';
import type { Answers } from './wire.ts';

export interface LinkRequest {
  /** Its reply has the same. */
  readonly number: number;
  readonly timeoutMs: number;
  readonly asks: SentText;
}

export function writeRequest(frame: FrameBuffer, { number, timeoutMs, asks }: LinkRequest): void {
  frame.writeNumber(number);
  frame.writeNumber(timeoutMs);
  frame.writeWord(asks.place);
  frame.writeText(asks.text);
}

/** @throws RangeError for what is no request */
export function readRequest(frame: FrameCursor): LinkRequest {
  const number = frame.readNumber();
  const timeoutMs = frame.readNumber();
  const place = frame.readWord();
  return { number, timeoutMs, asks: { place, text: frame.readText() } };
}

/** What a worker answers to a request. */
export interface NumberedAnswers {
  readonly number: number;
  readonly answers: Answers;
}

const none = 0;
const packed = 1;
/** Answers in bytes, as nearly all are: their number follows. */
const plain = 2;

export function writeReply(frame: FrameBuffer, { number, answers }: NumberedAnswers): void {
  frame.writeNumber(number);
  if (answers === null) frame.writeWord(none);
  else if (areBytes(answers)) {
    frame.writeWord(plain);
    frame.writeWord(answers.length);
    for (const bytes of answers) frame.writeBytes(bytes);
  } else {
    frame.writeWord(packed);
    frame.writeBytes(packBriefly(answers));
  }
}

/** @throws RangeError for what is no reply */
export function readReply(frame: FrameCursor): NumberedAnswers {
  const number = frame.readNumber();
  const kind = frame.readWord();
  if (kind === none) return { number, answers: null };
  if (kind === packed) return { number, answers: unpack<MessageBody[]>(frame.readBytes()) };
  const answers: MessageBody[] = [];
  for (let left = frame.readWord(); left > 0; left -= 1) answers.push(frame.readBytes());
  return { number, answers };
}

function areBytes(answers: readonly MessageBody[]): answers is readonly Uint8Array[] {
  return answers.every((body) => body instanceof Uint8Array);
}
