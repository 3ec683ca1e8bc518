import type { ConfigIssue } from '../../contract/diagnostic.ts';

/**
 * Formats issues for people: a block per file, each issue as `file: path: message` with its advice on the next line. Issues of
 * a file must be adjacent, as `loadConfiguration` returns them.
 */
export function issueText(issues: readonly ConfigIssue[]): string {
  const lines: string[] = [];
  let file: string | null = null;
  for (const issue of issues) {
    if (file !== null && issue.file !== file) lines.push('');
    file = issue.file;
    lines.push(`${issuePlace(issue)}: ${issue.message}`, `    ${issue.advice}`);
  }
  return lines.join('\n');
}

/** `file: $.path`, or `file:line:column`, which editors show as a link. */
function issuePlace({ file, path }: Pick<ConfigIssue, 'file' | 'path'>): string {
  return /^[0-9]/.test(path) ? `${file}:${path}` : `${file}: ${path}`;
}

/** The same for warnings. */
export function warningsText(warnings: readonly ConfigIssue[]): string {
  return issueText(warnings.map((warning) => ({ ...warning, message: `warning: ${warning.message}` })));
}

/** An error in a tenant's configuration on one line, with the path relative to the tenant's folder. */
export function issueLine({ file, path, message, advice }: ConfigIssue, tenant: string): string {
  const folder = `tenants/${tenant}/`;
  const shown = file.startsWith(folder) ? file.slice(folder.length) : file;
  return `${issuePlace({ file: shown, path })}: ${message}. ${advice}`;
}
