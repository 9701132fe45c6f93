/** Headers as they stand in a request, one a line. */
export function headerLines(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
}

/** JSON on one line gets line breaks, if nothing of it changes by that; anything else stays as it is. */
export function readable(body: string): string {
  try {
    const value: unknown = JSON.parse(body);
    const isSame = typeof value === 'object' && value !== null && JSON.stringify(value) === body.trim();
    return isSame ? JSON.stringify(value, null, 2) : body;
  } catch {
    return body;
  }
}
