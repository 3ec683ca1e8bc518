/** The responses of `/management/v1` (docs/reference/management.md), with the server's types. */
import type {
  ConfigurationAnswer,
  DiagnosticsAnswer,
  EntitiesAnswer,
  EntityAnswer,
  ExplainUrlAnswer,
  ExplainViewAnswer,
  PreviewAnswer,
  ScheduleAnswer,
  StatusAnswer,
  TenantAnswer,
  WebhookAnswer,
} from '../../contract/shapes-management.ts';
import type { QueryAnswer } from '../../contract/shapes-query.ts';
import type { ChangesAnswer } from '../../contract/shapes-read.ts';

export type Tenant = TenantAnswer;
export type SourceGroup = Tenant['sourceGroups'][number];
export type Schema = Tenant['schemas'][number];
export type Status = StatusAnswer;
export type Rates = Status['recent']['rates'][number];
export type Diagnostic = DiagnosticsAnswer['diagnostics'][number];
export type Entities = EntitiesAnswer;
export type Entity = EntityAnswer;
export type Schedule = ScheduleAnswer;
export type ViewExplained = ExplainViewAnswer;
export type Claim = Pick<ViewExplained['handles'][number], 'served' | 'beatenBy'>;
export type Ids = ViewExplained['shownBy'];
export type UrlExplained = ExplainUrlAnswer;
export type Configuration = ConfigurationAnswer;
export type Preview = PreviewAnswer;
/** A lookup of a preview; explained views have more members. */
export type Lookup = Preview['lookups'][number] & Partial<ViewExplained['lookups'][number]>;
export type Webhook = WebhookAnswer;

export type QueryResult = Pick<QueryAnswer, 'totalResults' | 'results' | 'facets' | 'nextPageToken'>;
export type Facet = QueryResult['facets'][number];
export type Change = ChangesAnswer['changes'][number];
