/** The responses of `/management/v1` (docs/reference/management.md), with the server's types. */
import type {
  ConfigurationAnswer,
  DiagnosticsAnswer,
  EntitiesAnswer,
  EntityAnswer,
  ExplainUrlAnswer,
  ExplainViewAnswer,
  JobAnswer,
  PreviewAnswer,
  ScheduleAnswer,
  StatusAnswer,
  TenantAnswer,
  WebhookAnswer,
} from '../../contract/shapes-management.ts';
import type { QueryAnswer } from '../../contract/shapes-query.ts';
import type { ChangesAnswer } from '../../contract/shapes-read.ts';

export type Tenant = TenantAnswer;
export type Status = StatusAnswer;
export type DiagnosticsPage = DiagnosticsAnswer;
export type Diagnostic = DiagnosticsPage['diagnostics'][number];
export type Entities = EntitiesAnswer;
export type Entity = EntityAnswer;
export type Schedule = ScheduleAnswer;
export type ViewExplained = ExplainViewAnswer;
export type Claim = Pick<ViewExplained['handles'][number], 'served' | 'beatenBy'>;
export type Ids = ViewExplained['shownBy'];
export type UrlExplained = ExplainUrlAnswer;
export type Configuration = ConfigurationAnswer;
export type Job = JobAnswer;
/** The result of `PUT /configuration?dryRun=true`. */
export type DryRun = NonNullable<Job['diff']>;
export type Preview = PreviewAnswer;
/** A lookup of a preview; explained views have more members. */
export type Lookup = Preview['lookups'][number] & Partial<ViewExplained['lookups'][number]>;
export type Webhook = WebhookAnswer;

export type QueryResult = Pick<QueryAnswer, 'totalResults' | 'results' | 'facets' | 'nextPageToken'>;
export type Facet = QueryResult['facets'][number];
export type Change = ChangesAnswer['changes'][number];
