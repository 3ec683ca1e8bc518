/**
 * Between a process and its sandbox: lines of JSON. The sandbox does one call after the other and answers each with one
 * line, in their order.
 */
import type { Json } from '../contract/json.ts';
import type { CodeCall, CodeFailure, CodeReply, ProgramKind } from '../schemas/build/code-call.ts';

/**
 * Where the sandbox writes its answers. Node sets its standard output to writes that do not wait when it loads TypeScript: a long
 * answer would then fail.
 */
export const answersDescriptor = 3;

export type ToSandbox =
  /** Makes the programs of a tenant known; `id` as in the calls. */
  | {
      readonly kind: 'open';
      readonly id: string;
      readonly programs: readonly (readonly [name: string, code: string])[];
    }
  | { readonly kind: 'close'; readonly id: string }
  /** Calls of one set: each has its input and its answers as JSON values of its own. */
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
  /** Finished work is answered before the next call begins, so that a call that never ends can be identified. */
  readonly isTold?: true;
};

type SentInput =
  | { readonly task: 'partial'; readonly input: Json }
  | { readonly task: Exclude<CodeCall['task'], 'partial'>; readonly input: CodeEntity };

/** An entity as code sees it. */
export interface CodeEntity {
  readonly originId: string;
  readonly originParentId: string | null;
}

/** The description of a program. It does not depend on an entity. */
export interface Description {
  /** Functions that it has. */
  readonly members: readonly string[];
  /** Source group -> entity types, as `triggers` names them; several for one group add up. */
  readonly triggers: readonly (readonly [sourceGroup: string, types: readonly string[]])[];
  /** The value of `index`; null without one. */
  readonly index: Json;
}

export type DescribeReply =
  | { readonly kind: 'described'; readonly description: Description; readonly cpuMs: number }
  | { readonly kind: 'failed'; readonly failure: CodeFailure; readonly cpuMs: number };

export type FromSandbox = { readonly kind: 'ready' } | CodeReply | DescribeReply;
