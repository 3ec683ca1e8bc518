import type { Configuration, Environment, Tenant } from '../../config/configuration.ts';
import type { StoredEntity } from '../../contract/entity.ts';
import type { ViewRef } from '../../contract/ids.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { LayoutStates } from '../../store/configuration/layouts.ts';
import type { ProcessedOutput, ProcessedRecord } from '../../store/derived/processed-record.ts';
import type { Store } from '../../store/store.ts';

export interface ExplainRequest {
  readonly configuration: Configuration;
  readonly tenant: Tenant;
  readonly environment: Environment;
  readonly view: ViewRef;
}

/** What an explanation is made from. */
export interface Explained extends ExplainRequest {
  readonly store: Store;
  readonly entity: StoredEntity;
  readonly record: ProcessedRecord;
  readonly output: ProcessedOutput;
  readonly layouts: LayoutStates;
  readonly sandbox: Sandbox;
}
