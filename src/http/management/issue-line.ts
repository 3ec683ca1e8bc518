import { issuePlace } from '../../config/documents/issue-text.ts';
import type { ConfigIssue } from '../../contract/diagnostic.ts';

/** A mistake of a tenant's configuration in one line, its document with the path in the tenant's folder. */
export function issueLine({ file, path, message, advice }: ConfigIssue, tenant: string): string {
  const folder = `tenants/${tenant}/`;
  const shown = file.startsWith(folder) ? file.slice(folder.length) : file;
  return `${issuePlace({ file: shown, path })}: ${message}. ${advice}`;
}
