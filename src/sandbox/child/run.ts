/** One build in the sandbox: its input, and its requests and findings so far. */
import type { Json } from '../../contract/json.ts';
import { diagnosticsPerBuildMax } from '../../contract/limits.ts';
import type { CodeAction, CodeDestination, CodeReply, LookupRequest } from '../../schemas/build/code-call.ts';
import type { CodeEntity } from '../protocol.ts';
import type { Module } from './programs.ts';

export class Run {
  readonly urls: { url: string; redirects: readonly string[] | null }[] = [];
  readonly handles: string[] = [];
  readonly actions: { -readonly [Key in keyof CodeAction]: CodeAction[Key] }[] = [];
  /** The options may be any value until `actions` has ended. */
  readonly destinations: { alias: string; options: unknown }[] = [];
  readonly settledDestinations: CodeDestination[] = [];
  readonly findings: CodeReply['findings'][number][] = [];
  readonly log: string[] = [];
  /** Lookups without a result, by their texts. */
  readonly asks = new Map<string, LookupRequest>();
  /** Number of lookups with a result. */
  readonly answered: number;
  /** Ids of the original entity, because code may modify its copy. */
  readonly entity: CodeEntity | null;
  /** Objects that represent source entities. */
  readonly entities = new WeakSet<object>();

  /**
   * @param entity the source entity; null for a separately built partial
   * @param moduleOf starts the program of a partial with fresh module variables; null: the partial is not code
   */
  constructor(
    entity: CodeEntity | null,
    readonly answers: Readonly<Record<string, Json>>,
    readonly moduleOf: (alias: string) => Module | null,
  ) {
    this.answered = Object.keys(answers).length;
    this.entity = entity && { originId: entity.originId, originParentId: entity.originParentId };
    if (entity !== null) this.entities.add(entity);
  }

  report(kind: 'partialUnknown' | 'limitReached', message: string): void {
    if (this.findings.length < diagnosticsPerBuildMax) this.findings.push({ kind, message });
  }
}
