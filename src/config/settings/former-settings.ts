/** Settings of earlier versions. They do nothing, and stop no start. */
const formerSettings: Readonly<Record<string, string>> = {
  MESSAGES_URL: 'fronts and workers are connected directly, and need no Redis for messages',
};

/** A line for each setting of an earlier version that is still set. */
export function formerSettingsIn(env: NodeJS.ProcessEnv): string[] {
  return Object.entries(formerSettings).flatMap(([name, reason]) =>
    (env[name]?.trim() ?? '') === '' ? [] : [`${name} is no longer used: ${reason}. Remove it`],
  );
}
