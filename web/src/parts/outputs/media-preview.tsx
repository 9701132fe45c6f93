import { Box } from '@mantine/core';
import { useState } from 'react';
import { localPath } from '../../api.ts';
import type { PreviewProps } from './preview.ts';
import { PreviewMessage } from './preview-message.tsx';
import classes from './preview.module.css';

export function AudioPreview({ output, url }: PreviewProps) {
  const [failed, setFailed] = useState(false);
  if (failed) return <CannotPlay />;
  return (
    <Box p="sm">
      <audio
        controls
        preload="metadata"
        src={localPath(url)}
        aria-label={output.filename}
        className={classes['audio']}
        onError={() => setFailed(true)}
      />
    </Box>
  );
}

export function VideoPreview({ output, url }: PreviewProps) {
  const [failed, setFailed] = useState(false);
  if (failed) return <CannotPlay />;
  return (
    <video
      controls
      playsInline
      preload="metadata"
      src={localPath(url)}
      aria-label={output.filename}
      className={classes['video']}
      onError={() => setFailed(true)}
    />
  );
}

function CannotPlay() {
  return <PreviewMessage>This browser cannot play this format. Download the file to play it.</PreviewMessage>;
}
