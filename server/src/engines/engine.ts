/** A library or program that does a tool's work. Its file also exports the typed verbs tools call. */
export interface Engine {
  id: string;
  /** For people: `LibreOffice Writer`. */
  name: string;
  /** SPDX identifier, as an operator must know what runs. */
  license: string;
  /** The exact line that installs it; absent for an npm package, which is always there. */
  install?: string;
  /** It interprets programs inside files (PostScript, office, HTML): never used without a sandbox. */
  interpretsPrograms?: true;
  /** Starts what takes long to start, in a tool host that waits for its first run. */
  warm?(): Promise<void>;
  /** The installed version, or undefined when it is missing. Never throws; may take a second. */
  version(): Promise<string | undefined>;
}
