/**
 * The protocol between a process and its sandbox: lines of JSON. The sandbox executes one call at a time, and replies to each
 * with one line, in order.
 */
import type { Json } from '../contract/json.ts';
import type { CodeCall, CodeFailure, CodeReply, ProgramKind } from '../schemas/build/code-call.ts';

/**
 * The file descriptor for replies. It is not the standard output, which Node makes non-blocking when it loads TypeScript: a
 * long reply would then fail.
 */
export const answersDescriptor = 3;

export type ToSandbox =
  /** Registers the programs of a tenant; the calls refer to `id`. */
  | {
      readonly kind: 'open';
      readonly id: string;
      readonly programs: readonly (readonly [name: string, code: string])[];
    }
  | { readonly kind: 'close'; readonly id: string }
  /** Calls of programs in one set, each with its input and lookup results. */
  | { readonly kind: 'run'; readonly id: string; readonly calls: readonly SentCall[] }
  | {
      readonly kind: 'describe';
      readonly id: string;
      readonly program: ProgramKind;
      readonly alias: string;
    };

/** A call, with its input parsed. */
export type SentCall = SentInput & {
  readonly alias: string;
  readonly answers: Readonly<Record<string, Json>>;
  /** Replies to finished calls are sent before this call starts, so that a call that never ends can be identified. */
  readonly flushFirst?: true;
};

type SentInput =
  | { readonly task: 'partial'; readonly input: Json }
  | { readonly task: Exclude<CodeCall['task'], 'partial'>; readonly input: CodeEntity };

/** The ids of an entity as code receives it. */
export interface CodeEntity {
  readonly originId: string;
  readonly originParentId: string | null;
}

/** The description of a program, which does not depend on an entity. */
export interface Description {
  /** Names of its functions. */
  readonly members: readonly string[];
  /** Source group -> entity types, from the calls of `triggers`; entries of the same group add up. */
  readonly triggers: readonly (readonly [sourceGroup: string, types: readonly string[]])[];
  /** The value of `index`; null without one. */
  readonly index: Json;
}

export type DescribeReply =
  | { readonly kind: 'described'; readonly description: Description; readonly cpuMs: number }
  | { readonly kind: 'failed'; readonly failure: CodeFailure; readonly cpuMs: number };

export type FromSandbox = { readonly kind: 'ready' } | CodeReply | DescribeReply;
