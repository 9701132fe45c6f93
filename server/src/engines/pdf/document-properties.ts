/** What a PDF says of itself; what it does not say is undefined. */
export interface DocumentProperties {
  title: string | undefined;
  author: string | undefined;
  subject: string | undefined;
  keywords: string | undefined;
  creator: string | undefined;
  producer: string | undefined;
  /** ISO 8601. */
  created: string | undefined;
  modified: string | undefined;
}

/** What people may say of a document. */
export interface Description {
  title?: string | undefined;
  author?: string | undefined;
  subject?: string | undefined;
  keywords?: string | undefined;
}
