import { environmentWithFile, readSettings, type Settings } from '../../config/settings/settings.ts';

/** The settings of a command, from the environment and the `.env` of the working folder. @throws SettingsError */
export function commandSettings(): Settings {
  return readSettings(environmentWithFile(process.env, process.cwd()));
}
