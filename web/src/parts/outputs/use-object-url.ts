import { useEffect, useState } from 'react';

/** An address of a blob for as long as the component shows it; undefined before the first effect, and without a blob. */
export function useObjectUrl(blob: Blob | undefined): string | undefined {
  const [made, setMade] = useState<{ blob: Blob; url: string }>();
  useEffect(() => {
    if (blob === undefined) return undefined;
    const url = URL.createObjectURL(blob);
    setMade({ blob, url });
    return () => URL.revokeObjectURL(url);
  }, [blob]);
  // One that belongs to the blob before is revoked already.
  return made?.blob === blob ? made?.url : undefined;
}
