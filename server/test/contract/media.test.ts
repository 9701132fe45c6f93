import { audioCases } from './cases/audio.ts';
import { subtitleCases } from './cases/subtitle.ts';
import { videoCases } from './cases/video.ts';
import { contract } from './contract.ts';

contract({ video: videoCases, audio: audioCases, subtitle: subtitleCases });
